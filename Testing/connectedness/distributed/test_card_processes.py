"""A process for each card: here of the CPU, since there is no card."""

import os
import signal
import threading
from multiprocessing import Pipe

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib import connectedness as on_the_whole
from FuzzyConnectedGPULib.distributed import CardProcesses, connectedness
from FuzzyConnectedGPULib.distributed.cuda import card_processes, cards
from FuzzyVesselCoreLib.errors import InputError

AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]


@pytest.fixture(scope="module")
def client():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(card_processes, "card_words", lambda device: ["cpu"])
        with CardProcesses("cuda") as made:
            yield made


@pytest.fixture
def source(tmp_path):
    volume = np.random.default_rng(1).normal(100, 25, (12, 13, 14)).astype(np.float32)
    np.save(tmp_path / "source.npy", volume)
    return tmp_path / "source.npy"


def test_the_result_is_that_of_the_whole(client, source, tmp_path):
    target = tmp_path / "target.npy"
    run = connectedness(source, SEEDS, AFFINITY, target, block=7, client=client)
    assert run.computed == {"contract": 8, "solve": 1, "finish": 8}
    whole = on_the_whole(np.load(source), SEEDS, AFFINITY, solver="dial").values
    np.testing.assert_array_equal(np.load(target) / np.float32(65535), whole)


def test_errors_come_back_with_their_words(client, source, tmp_path):
    volume = np.load(source)
    with pytest.raises(InputError, match="Other processes cannot reach"):
        connectedness(volume, SEEDS, AFFINITY, tmp_path / "t.npy", client=client)
    volume[3, 4, 6] = np.nan
    np.save(source, volume)
    with pytest.raises(InputError, match="at I,J,K = 6,4,3"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "t.npy", block=7, client=client)


class Unsendable(Exception):
    """An error that cannot be pickled."""

    def __init__(self):
        super().__init__("words of the error")
        self.lock = threading.Lock()


def fail_unsendable(*_):
    raise Unsendable


def end_of_file(*_):
    raise EOFError("no data left in file")


@pytest.mark.parametrize("error", ["words of the error", "no data left", "cannot be read"])
def test_errors_of_a_task_are_answered(error):
    own, their = Pipe()
    thread = threading.Thread(target=card_processes.serve, args=([their],), daemon=True)
    thread.start()
    if error == "cannot be read":
        own.send_bytes(b"no pickle")
    else:
        own.send((fail_unsendable if error.startswith("words") else end_of_file,))
    assert own.poll(20)
    found = own.recv()
    assert isinstance(found, Exception)
    assert error in str(found) or error == "cannot be read"
    own.close()
    thread.join(20)
    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes end in another way here")
def test_a_process_that_ends(client, source, tmp_path):
    os.kill(client.processes[0].pid, signal.SIGKILL)
    with pytest.raises(InputError, match=r"process of cpu ended at \[.*finished blocks are kept"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "t.npy", block=7, client=client)


def test_a_device_that_names_no_card(monkeypatch):
    monkeypatch.setattr(card_processes, "card_words", cards.card_words)
    with pytest.raises(InputError, match="names no card"):
        CardProcesses("cpu")
