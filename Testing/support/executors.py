"""Executors that complete tasks in other orders than they were submitted in."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np


class ShuffledExecutor:
    """Runs each task when the next ones were submitted, in a random order."""

    def __init__(self, number):
        self._random, self._waiting = np.random.default_rng(number), []
        self._pool = ThreadPoolExecutor(1)
        self._lock = threading.Lock()

    def submit(self, function, *args):
        future = Future()
        with self._lock:
            self._waiting.append((future, function, args))
        self._pool.submit(self._run_one)
        return future

    def _run_one(self):
        with self._lock:
            task = self._waiting.pop(self._random.integers(len(self._waiting)))
        future, function, args = task
        future.set_result(function(*args))
