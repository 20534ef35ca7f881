# SPDX-License-Identifier: GPL-2.0-only
"""The file set against the figures of 98-0876R1, section 5.2."""

import pytest

from workload import specweb
from workload.errors import WorkloadError
from workload.poisson import bounded


@pytest.mark.parametrize(
    ("file_class", "file", "size"),
    [
        (0, 1, 102),
        (0, 5, 512),
        (0, 9, 922),
        (1, 1, 1024),
        (1, 9, 9216),
        (2, 3, 30720),
        (3, 1, 102400),
        (4, 1, 1024000),
        (4, 9, 9216000),
    ],
)
def test_sizes(file_class, file, size):
    assert specweb.size_bytes(file_class, file) == size


def test_the_mean_is_the_papers():
    files = bounded(specweb.FILE_MEAN, specweb.FILES[0], specweb.FILES[-1], "mean")
    mean = sum(c.share * c.unit_bytes for c in specweb.CLASSES) * files.mean()
    assert mean == pytest.approx(120_320, abs=1e-6)


def test_shares_are_those_of_table_1():
    assert [c.share for c in specweb.CLASSES] == [0.20, 0.28, 0.40, 0.112, 0.008]


@pytest.mark.parametrize(
    ("uniform", "file_class"),
    [(0.0, 0), (0.1999, 0), (0.2, 1), (0.4799, 1), (0.4801, 2), (0.8801, 3), (0.9921, 4)],
)
def test_class_at(uniform, file_class):
    assert specweb.class_at(uniform) == file_class


def test_class_at_the_last_uniform_below_one_is_the_last_class():
    assert specweb.class_at(1 - 2**-53) == 4


@pytest.mark.parametrize(("file_class", "file"), [(5, 1), (-1, 1), (0, 0), (0, 10)])
def test_no_such_file(file_class, file):
    with pytest.raises(WorkloadError, match=f"class {file_class} has no file {file}"):
        specweb.size_bytes(file_class, file)


def test_write_makes_every_file_of_its_size_and_of_zeros(tmp_path):
    docroot = tmp_path / "www"
    assert specweb.write(docroot) == 51_199_488
    names = {f"/{file.name}": file.stat().st_size for file in docroot.iterdir()}
    assert names == {
        specweb.path(c, f): specweb.size_bytes(c, f) for c in range(5) for f in range(1, 10)
    }
    assert (docroot / "class3_9").read_bytes() == bytes(921600)


def test_write_replaces_what_lay_there(tmp_path):
    (tmp_path / "class0_1").write_bytes(b"old" * 1000)
    specweb.write(tmp_path)
    assert (tmp_path / "class0_1").read_bytes() == bytes(102)
