import typer, fire, tyro
from omegaconf import OmegaConf
@app.command()
def main(path: str, lr: float = typer.Option(0.1, "--rate/--no-rate", help="x"), n: list[int] = [1], *, o: Literal["a", "b"] = "a"):
    x = f"{lr!r}" r"\d" b'x' '''a
    b'''
typer.run(main)
fire.Fire(main)
OmegaConf.create({"lr": 0.1, "a": {"b": [1]}})
@dataclass
class A(Tap):
    x: int = field(default=3, metadata={"help": "h"})
HfArgumentParser((A, B))
