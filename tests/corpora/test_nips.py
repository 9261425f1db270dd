from heldout.corpora.nips import read_texts


def test_papers_come_in_the_order_of_volumes_and_pages() -> None:
    members = {
        "nipstxt/nips01/0003.txt": b"third \xe9",
        "nipstxt/nips00/0010.txt": b"second",
        "nipstxt/nips00/0002.txt": b"first",
    }
    assert read_texts(members) == [("nips00/0002", "first"), ("nips00/0010", "second"), ("nips01/0003", "third é")]
