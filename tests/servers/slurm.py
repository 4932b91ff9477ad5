"""A real Slurm of two nodes on this machine, from Debian's packages, in a folder of its own, as root."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.alarms import PATIENCE_S

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
NODES = ("n1", "n2")
CONFIGURATION = """
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=cred_expire=5,socket={root}/munge.socket
SlurmUser=root
SlurmdUser=root
SlurmdParameters=config_overrides
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=4 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """Say why there is no Slurm here; None where there can be one."""
    os.environ["PATH"] += f"{os.pathsep}/usr/sbin"
    if os.geteuid() != 0:
        return "Slurm's daemons want root here"
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return (
        f"Slurm is not on this machine ({', '.join(absent)}); Debian: apt-get install slurm-wlm"
        if absent
        else None
    )


def free_ports(number: int) -> list[int]:
    """Return ports that nothing listens on."""
    with ExitStack() as stack:
        ports = []
        for _ in range(number):
            free = stack.enter_context(socket.socket())
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
        return ports


class Slurm:
    """A cluster of two nodes on this machine, for as long as it is entered; `environ` is for who submits to it."""

    def __init__(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="reelbench-slurm-"))
        self.environ = {"SLURM_CONF": str(self._root / "slurm.conf")}

    def __enter__(self):
        root = self._root
        root.chmod(0o755)
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (root / name).mkdir()
        key = root / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        controller, first, second = free_ports(3)
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(
            root=root, host=host, controller=controller, first=first, second=second
        )
        (root / "slurm.conf").write_text(text)
        names = {
            "socket": "munge.socket",
            "key-file": "munge.key",
            "pid-file": "munged.pid",
            "log-file": "munged.log",
        }
        options = [
            f"--{option}={root / name}"
            for option, name in (names | {"seed-file": "munge.seed"}).items()
        ]
        self._run("munged", *options, "--force")
        self._run("slurmctld", "-c")
        for node in NODES:
            self._run("slurmd", "-c", "-N", node)
        deadline = time.monotonic() + PATIENCE_S
        while self._run("sinfo", "--noheader", "--Node", "--format=%T").split() != ["idle", "idle"]:
            assert time.monotonic() < deadline, (root / "slurmctld.log").read_text()
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        for name in (*NODES, "slurmctld", "munged"):
            pid = int((self._root / f"{name}.pid").read_text())
            os.kill(pid, 15)
            deadline = time.monotonic() + 30
            while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
                time.sleep(0.1)
        shutil.rmtree(self._root, ignore_errors=True)

    def _run(self, *command):
        done = subprocess.run(
            command, env=os.environ | self.environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or command[0] == "sinfo", f"{command}: {done.stderr}"
        return done.stdout
