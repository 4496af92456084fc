"""A real Slurm of two nodes on this machine: controller and two daemons on loopback, no accounting, no cgroups."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

NODES = ("node1", "node2")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo", "munged", "munge")
CONFIGURATION = Path("/etc/slurm/slurm.conf")
"""Where every Slurm program looks: jobs do not inherit SLURM_CONF, because the executor clears SLURM_*."""

_PORT = 26817
_SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=1
ReturnToService=2
KillWait=2
MinJobAge=300
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs=4 RealMemory=8000 State=UNKNOWN
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs=4 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=120 State=UP
"""


def missing() -> str | None:
    """Why there can be no Slurm here, None where there can."""
    if os.geteuid() != 0:
        return "Slurm's daemons are started by root only"
    if CONFIGURATION.exists():
        return f"{CONFIGURATION} is there: this machine has a Slurm of its own"
    absent = [name for name in PROGRAMS if shutil.which(name, path=_search_path()) is None]
    if absent:
        return f"{', '.join(absent)} not installed: apt-get install slurmctld slurmd slurm-client munge"
    return None


@dataclass
class Slurm:
    """A running Slurm; ``environment`` is that of its clients and daemons."""

    folder: Path
    environment: dict[str, str]

    @classmethod
    def start(cls, folder: Path) -> Slurm:
        """Start munge, unless it runs, the controller and both nodes; raises ``RuntimeError`` if they stay down."""
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (folder / name).mkdir(parents=True)
        host = socket.gethostname().partition(".")[0]
        settings = _SETTINGS.format(host=host, folder=folder, port=_PORT, port1=_PORT + 4, port2=_PORT + 5)
        CONFIGURATION.parent.mkdir(exist_ok=True)
        CONFIGURATION.write_text(settings)
        environment = {**os.environ, "PATH": _search_path()}
        slurm = cls(folder, environment)
        slurm._munge()
        slurm.run("slurmctld")
        for node in NODES:
            slurm.run("slurmd", "-N", node)
        until = time.monotonic() + 30
        while slurm.run("sinfo", "-h", "-t", "idle", "-o", "%D", check=False).strip() != "2":
            if time.monotonic() > until:
                raise RuntimeError(f"Slurm stays down: {(folder / 'slurmctld.log').read_text()[-2000:]}")
            time.sleep(0.2)
        return slurm

    def run(self, *command: str, check: bool = True) -> str:
        """Standard output of a command that talks to this Slurm."""
        done = subprocess.run(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=check
        )
        return done.stdout

    def set_node(self, node: str, state: str) -> None:
        """Set a node ``down``, or back with ``resume``, which is refused where it came back by itself."""
        self.run("scontrol", "update", f"nodename={node}", f"state={state}", "reason=test", check=state == "down")

    def stop(self) -> None:
        """Cancel what runs and end the daemons that this Slurm started."""
        self.run("scancel", "--user=root", check=False)
        time.sleep(1)
        for file in self.folder.glob("*.pid"):
            try:
                os.kill(int(file.read_text()), 15)
            except (ProcessLookupError, ValueError):
                continue
        CONFIGURATION.unlink()

    def _munge(self) -> None:
        if subprocess.run(["munge", "-n"], env=self.environment, capture_output=True, check=False).returncode == 0:
            return
        owner = pwd.getpwnam("munge")
        for path, mode in (("/run/munge", 0o755), ("/var/log/munge", 0o700), ("/var/lib/munge", 0o700)):
            Path(path).mkdir(parents=True, exist_ok=True)
            os.chown(path, owner.pw_uid, owner.pw_gid)
            Path(path).chmod(mode)
        self.run("runuser", "-u", "munge", "--", "munged")


def _search_path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"
