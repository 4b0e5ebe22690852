# The keeper: a Python process that has imported what a script imports, and forks a child for each task. The child
# becomes the task: its arguments, environment, folder, outputs and session are those that the runner sent. See warm.h
# and docs/internals/node.md.
#
# Arguments: the folder of the socket, the key, then the modules. Descriptor 3 is the lock on the key, which is held as
# long as this process lives.
import os
import signal
import sys


def keeper_is_installed(path):
    """Python's own modules, and packages that pip or conda put where packages belong."""
    home = os.path.dirname(os.__file__)
    parts = path.split(os.sep)
    return path.startswith(home + os.sep) or "site-packages" in parts or "dist-packages" in parts


def keeper_read_exactly(sock, size):
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def keeper_traffic(pid):
    """Bytes that an ended process has read and written, with the children that it waited for."""
    try:
        with open("/proc/%d/io" % pid, "rb") as io:
            said = dict(line.split(b": ") for line in io.read().splitlines())
        return b" %d %d" % (int(said[b"read_bytes"]), int(said[b"write_bytes"]))
    except (OSError, ValueError, KeyError):
        return b""


def keeper_open_files():
    """Descriptors, and what each of them is."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink("/proc/self/fd/" + name)
        except OSError:  # that of the list itself
            pass
    return found


def keeper_settings():
    """Files of the user that libraries read when they are imported."""
    home = os.path.expanduser("~")
    found = [os.path.join(os.environ.get("KERAS_HOME") or os.path.join(home, ".keras"), "keras.json")]
    if hasattr(sys.modules.get("matplotlib"), "get_configdir"):
        found.append(os.path.join(sys.modules["matplotlib"].get_configdir(), "matplotlibrc"))
    return found


class Keeper:
    IDLE_S = 60  # then it ends: it holds memory
    LOOK_S = 2  # is its socket still there? A state folder that is removed takes its keepers along
    # What a library imports when it is first used: the first optimizer of PyTorch 2 imports the second one, for 4 to 5 s.
    LATER = (("torch", "torch._dynamo"),)
    # Variables that modules set when they are imported: the scripts of cold starts have them, too.
    variables = {}

    def __init__(self, folder, key, modules):
        self.key, self.modules = key, modules
        self.files_before = {}
        self.running = {}  # pid: connection
        self.asking = set()  # connections without a request yet
        os.chdir(folder)  # a path below it would be too long for a socket on many systems

    def refuse(self, why):
        """Tells all later runners not to try."""
        with open(self.key + ".new", "w", encoding="utf-8") as out:
            out.write(why + "\n")
        os.rename(self.key + ".new", self.key + ".cold")
        sys.exit(0)

    def is_users(self, name):
        """Is the module one that its user may edit in place: found through PYTHONPATH or in a checkout, not installed?"""
        import importlib.util

        try:
            spec = importlib.util.find_spec(name.partition(".")[0])
        except (ImportError, ValueError):
            return False
        places = [spec.origin or "", *(spec.submodule_search_locations or [])] if spec else []
        return any(os.path.isabs(place) and not keeper_is_installed(place) for place in places)

    def import_modules(self):
        self.files_before = keeper_open_files()
        theirs = [name for name in self.modules if self.is_users(name)]
        if theirs and len(theirs) == len(self.modules):
            self.refuse(f"{theirs[0]} is not installed but found in a folder of your own, where it may change")
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.close(null)
        before = dict(os.environ)
        for name in self.modules:
            if name in theirs:
                continue  # like the modules beside the script
            self.import_module(name)
        for library, later in self.LATER:
            if library in sys.modules:
                self.import_module(later)
        Keeper.variables = {name: value for name, value in os.environ.items() if before.get(name) != value}

    def import_module(self, name):
        import importlib

        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            pass  # `from torch import x`: x need not be a module. The script itself will say what is missing
        except BaseException as error:  # the script must meet it, with its own output
            self.refuse(f"importing {name} failed: {type(error).__name__}: {error}")

    def check(self):
        """Can a fork of this process do all that a fresh one can?"""
        import threading

        if threading.active_count() > 1:
            self.refuse("a module that it imports starts threads")
        for fd, target in keeper_open_files().items():
            if target.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dri")):
                self.refuse("a module that it imports uses the GPU at once")
            # All tasks would share its place, and what it writes.
            if fd not in self.files_before and not target.startswith(("/dev/", "/memfd:")):
                self.refuse(f"a module that it imports keeps a file or a connection open ({target})")
        if "MPLCONFIGDIR" in self.variables:  # where the user's folder cannot be written; the first task that ends removes it
            self.refuse("a module that it imports makes a temporary folder (MPLCONFIGDIR)")
        # Libraries that know about forks (OpenBLAS) end their threads before one and start them again when needed.
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        if len(os.listdir("/proc/self/task")) > 1:
            self.refuse("a module that it imports starts threads")

    def stamps(self):
        """When the folders of modules were changed last: an installation changes them. And the files of the user's own
        modules that a library has imported, and the settings that libraries read when they are imported."""
        found = []
        for path in sys.path + self.own_files + self.settings:
            try:
                found.append((path, os.stat(path).st_mtime_ns))
            except OSError:
                pass
        return found

    def serve(self):
        """Returns only in a child: what it was asked to run."""
        import selectors
        import socket

        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        self.own_files = [file for file in files if isinstance(file, str) and not keeper_is_installed(file)]
        self.settings = keeper_settings()
        self.seen = self.stamps()
        listener = socket.socket(socket.AF_UNIX)
        if os.path.lexists(self.key + ".bound"):
            os.unlink(self.key + ".bound")
        listener.bind(self.key + ".bound")
        os.chmod(self.key + ".bound", 0o600)
        listener.listen(64)
        os.rename(self.key + ".bound", self.key + ".sock")  # who finds it gets an answer
        inode = os.stat(self.key + ".sock").st_ino
        os.close(self.told)
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        selector = selectors.DefaultSelector()
        selector.register(listener, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        idle = 0
        while True:
            ready = selector.select(self.LOOK_S)
            idle = 0 if ready or self.running or self.asking else idle + self.LOOK_S
            try:
                there = os.stat(self.key + ".sock").st_ino == inode
            except OSError:
                there = False
            if not self.running and not self.asking and (not there or idle >= self.IDLE_S):
                if there:
                    os.unlink(self.key + ".sock")
                sys.exit(0)
            for entry, _ in ready:
                if entry.fileobj is listener:
                    self.accept(listener, selector)
                elif entry.fileobj in self.asking:
                    task = self.take(entry.fileobj, selector)
                    if task is not None:
                        selector.close()
                        listener.close()
                        signal.set_wakeup_fd(-1)
                        os.close(wake)
                        os.close(waker)
                        return task
                elif entry.fileobj == wake:
                    try:
                        os.read(wake, 4096)
                    except BlockingIOError:
                        pass
                else:
                    self.lost(entry.fileobj, selector)
            self.reap(selector)

    def accept(self, listener, selector):
        """A runner may connect long before it asks."""
        import selectors

        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connection.settimeout(10)
        try:
            os.utime(self.key + ".sock")  # the one that was not used for longest makes room for another: see warm.c
        except OSError:
            pass
        self.asking.add(connection)
        selector.register(connection, selectors.EVENT_READ)

    def take(self, connection, selector):
        """Reads a request and forks. In the child the task; in the keeper None."""
        import socket
        import struct

        fds = []
        self.asking.discard(connection)
        try:
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.getuid():
                raise PermissionError
            head, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(4 * 4))
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    fds += struct.unpack(f"{len(data) // 4}i", data)
            head += keeper_read_exactly(connection, 4 - len(head))
            body = keeper_read_exactly(connection, struct.unpack("<I", head)[0])
            if len(fds) != 4:
                raise ValueError("descriptors are missing")
            if self.stamps() != self.seen:
                connection.sendall(b"Rpackages or settings were changed since it was started\n")
                os.unlink(self.key + ".sock")  # the next runner starts another keeper
                raise ValueError("stale")
            pid = os.fork()
            if pid == 0:
                connection.close()
                for other in [*self.running.values(), *self.asking]:
                    other.close()  # else other tasks would not see the end of the keeper
                return fds, body.split(b"\0")[:-1]
            self.running[pid] = connection
            connection.sendall(b"P%d\n" % pid)
        except (OSError, EOFError, ValueError):
            if connection not in self.running.values():  # a child without a stand-in ends by itself: keeper_await
                selector.unregister(connection)
                connection.close()
        finally:
            if os.getpid() == self.pid:
                for fd in fds:
                    os.close(fd)
        return None

    def lost(self, connection, selector):
        """A runner sends nothing: its end of the connection was closed, so it is dead, and its script goes with it."""
        for pid, other in list(self.running.items()):
            if other is connection:
                selector.unregister(connection)
                for group in (-pid, pid):
                    try:
                        os.kill(group, signal.SIGKILL)
                    except OSError:
                        pass

    def reap(self, selector):
        while self.running:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended is None:
                    return
                traffic = keeper_traffic(ended.si_pid)
                pid, status, used = os.wait4(ended.si_pid, 0)
            except ChildProcessError:
                return
            connection = self.running.pop(pid, None)
            if connection is None:
                continue
            try:
                selector.unregister(connection)
            except KeyError:
                pass
            cpu_ms = int((used.ru_utime + used.ru_stime) * 1000)
            try:
                connection.sendall(b"E%d %d %d%s\n" % (status, cpu_ms, used.ru_maxrss, traffic))
            except OSError:
                pass
            connection.close()

    def watch(self):
        """Imports that end the process (PyTorch's and TensorFlow's libraries do so together) would else end every keeper
        that is started in its place. Returns in a child, which becomes the keeper."""
        alive, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(alive)
            self.told = told
            os.setsid()
            return
        os.close(told)
        os.read(alive, 1)  # it listens, or is gone
        if not os.path.lexists(self.key + ".sock") and not os.path.lexists(self.key + ".cold"):
            _, status = os.waitpid(pid, 0)
            if os.WIFSIGNALED(status):
                self.refuse("a module that it imports ends the process with signal %d" % os.WTERMSIG(status))
        os._exit(0)

    def run(self):
        self.watch()
        self.pid = os.getpid()
        self.import_modules()
        import selectors  # noqa: F401  everything that is used after a fork is imported before it
        import socket  # noqa: F401
        import struct  # noqa: F401

        self.check()
        # The collector of a child leaves alone what was imported: it would copy every page of it, above all at the end.
        import gc

        gc.collect()
        counted = any(type(found).__name__ == "nb_func" for found in gc.get_objects())
        gc.freeze()
        task = self.serve()
        if counted:  # libraries made with nanobind list on stderr what is left at the end: then all of it is collected
            import atexit

            atexit.register(gc.unfreeze)  # comes last, after those of the script
        return task


def keeper_show(environment, argv):
    """/proc shows what the child was asked to run: the task's processes are found by their environment."""
    import ctypes

    with open("/proc/self/stat", "rb") as stat:
        fields = stat.read().rsplit(b")", 1)[1].split()
    arg_start, arg_end, env_start, env_end = (int(f) for f in fields[45:49])
    marks = [e for e in environment if e.startswith((b"SLUICE_REPORT=", b"SLUICE_TASK_DIR="))]
    for start, end, texts in ((arg_start, arg_end, argv), (env_start, env_end, marks)):
        text = b"".join(t + b"\0" for t in texts)[: end - start - 1]
        if start and end > start:
            ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def keeper_is_shadowed(folder):
    """Does a file beside the script have the name of a module that is imported already? A fresh start would import
    the file. Or are there settings that libraries look for where the script runs?"""
    if os.path.exists("matplotlibrc") or os.path.exists(".numba_config.yaml"):
        return True
    for name in os.listdir(folder):
        stem, ending = os.path.splitext(name)
        if stem in sys.modules and stem != "__main__" and (ending == ".py" or os.path.isdir(os.path.join(folder, name))):
            return True
    return False


def keeper_await(channel):
    """The stand-in says that it knows this process. If it is gone, no runner would: then nothing may begin."""
    if os.read(channel, 1) != b"g":
        os._exit(1)


def keeper_become(fds, fields):
    """Makes the forked process what the runner asked for. Returns the path of the script and the channel for its end."""
    keeper_await(fds[3])
    cwd, python, cores = fields[0], fields[1], fields[2]
    count = int(fields[3])
    argv, environment = fields[4 : 4 + count], fields[4 + count :]
    os.setsid()
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for i in range(3):
        os.dup2(fds[i], i)
    for fd in fds[:3]:
        os.close(fd)
    os.set_inheritable(fds[3], False)  # what the script starts does not get the channel for its end
    os.close(3)  # the lock is the keeper's
    if cores:
        os.sched_setaffinity(0, {int(c) for c in cores.split(b",")})
    os.environb.clear()  # from here on no variable lies where the kernel put those of the keeper
    for entry in environment:
        name, _, value = entry.partition(b"=")
        if name:
            os.environb[name] = value
    keeper_show(environment, [python] + argv)
    os.environ.update(Keeper.variables)
    os.chdir(cwd)
    import random

    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "default_generator"):
        torch.default_generator.seed()  # that of a GPU is made when the GPU is first used
    sys.argv = [os.fsdecode(a) for a in argv]
    sys.orig_argv = [os.fsdecode(python)] + sys.argv  # what a launcher starts again
    folder = os.path.dirname(os.path.realpath(sys.argv[0]))  # as Python does it
    if keeper_is_shadowed(folder):
        os.execv(os.fsdecode(python), [os.fsdecode(python)] + sys.argv)
    if sys.path and sys.path[0] == "":  # not where PYTHONSAFEPATH is set
        sys.path[0] = folder
    path = os.path.abspath(sys.argv[0]) if sys.version_info >= (3, 9) else sys.argv[0]  # as Python itself
    return path, fds[3]


def keeper_main_module(path):
    import builtins
    import importlib.machinery
    import types

    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = builtins
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    main.__spec__ = None
    main.__package__ = None
    main.__cached__ = None
    sys.modules["__main__"] = main
    return main


def keeper_tell(channel, code):
    """For the case that the keeper is gone when this process ends."""
    if code is None:
        code = 0
    elif not isinstance(code, int):
        code = 1
    try:
        os.write(channel, b"X%d\n" % (code & 0xFF))
    except OSError:
        pass


keeper_task = Keeper(sys.argv[1], sys.argv[2], sys.argv[3:]).run()
keeper_path, keeper_channel = keeper_become(*keeper_task)
keeper_main = keeper_main_module(keeper_path)
try:
    with open(keeper_path, "rb") as keeper_source:
        keeper_code = compile(keeper_source.read(), keeper_path, "exec", dont_inherit=True)
    exec(keeper_code, keeper_main.__dict__)
    keeper_tell(keeper_channel, 0)
except SystemExit as keeper_exit:
    keeper_tell(keeper_channel, keeper_exit.code)
    raise
except BaseException as keeper_error:
    keeper_tell(keeper_channel, 1)
    keeper_error.__traceback__ = keeper_error.__traceback__.tb_next  # without this line
    sys.excepthook(type(keeper_error), keeper_error, keeper_error.__traceback__)
    if isinstance(keeper_error, KeyboardInterrupt):  # as Python does it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)
