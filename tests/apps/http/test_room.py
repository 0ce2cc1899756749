"""Room for new connections, with a clock that the test turns."""

from nmspeller.apps.http.room import MOST_CONNECTIONS, Room


class Loop:
    """Keeps what is to be called, and when."""

    def __init__(self):
        self.now = 0.0
        self.soon = []
        self.later = []

    def time(self):
        return self.now

    def call_soon(self, call, *arguments):
        self.soon.append((call, arguments))

    def call_later(self, seconds, call, *arguments):
        self.later.append((self.now + seconds, call, arguments))

    def pass_time(self, seconds):
        self.now += seconds
        due = [entry for entry in self.later if entry[0] <= self.now]
        self.later = [entry for entry in self.later if entry[0] > self.now]
        for _, call, arguments in due:
            call(*arguments)
        while self.soon:
            call, arguments = self.soon.pop(0)
            call(*arguments)


class Connections:
    """Connections of a process, made one after the other."""

    def __init__(self):
        self.loop, self.room, self.open = Loop(), Room(), set()

    def connect(self):
        connection = Connection(self)
        self.open.add(connection)
        self.room.note_silent(connection, self.loop.now)
        self.room.make(self.open, self.loop)
        return connection


class Connection:
    def __init__(self, others):
        self.others, self.is_silent = others, True

    def ask(self):
        self.is_silent = False
        self.others.room.note_busy(self)

    def answer(self):
        self.is_silent = True
        self.others.room.note_silent(self, self.others.loop.now)

    def close_if_silent(self):
        if self.is_silent:
            self.others.open.discard(self)
            self.others.room.note_lost(self)
        return self.is_silent


def test_the_longest_silent_make_way_one_for_one():
    connections = Connections()
    made = [connections.connect() for _ in range(MOST_CONNECTIONS)]
    connections.loop.pass_time(2)
    made[0].ask()
    made[1].ask()
    made[1].answer()
    made += [connections.connect() for _ in range(3)]
    connections.loop.pass_time(0)
    gone = set(made) - connections.open
    assert gone == {made[2], made[3], made[4]}


def test_nobody_is_closed_within_a_second_and_there_is_one_timer_for_all():
    connections = Connections()
    made = [connections.connect() for _ in range(MOST_CONNECTIONS + 400)]
    connections.loop.pass_time(0.5)
    assert len(connections.open) == len(made)
    assert len(connections.loop.later) == 1
    connections.loop.pass_time(0.6)
    assert connections.open == set(made[400:])
    assert connections.loop.later == []


def test_busy_connections_stay_however_many_there_are():
    connections = Connections()
    made = [connections.connect() for _ in range(MOST_CONNECTIONS + 10)]
    for connection in made:
        connection.ask()
    for _ in range(5):
        connections.loop.pass_time(2)
    assert connections.open == set(made)
    for connection in made[:20]:
        connection.answer()
    connections.loop.pass_time(1)
    connections.loop.pass_time(1)
    assert connections.open == set(made[10:])


def test_a_request_that_comes_at_the_last_moment_is_answered():
    connections = Connections()
    made = [connections.connect() for _ in range(MOST_CONNECTIONS)]
    connections.loop.pass_time(2)
    connections.connect()
    made[0].ask()  # it was chosen to leave, but nothing has been closed yet
    connections.loop.pass_time(0)
    assert made[0] in connections.open
    made[0].answer()
    connections.connect()
    connections.loop.pass_time(0)
    assert made[0] in connections.open
    assert made[1] not in connections.open
