"""`seeker demo`: the built-in catalog, built if needed, shown and served."""

from __future__ import annotations

import click

from seeker.cli.build import shows_bar
from seeker.cli.errors import resumable


@click.command(short_help="Try Seeker on the built-in catalog of emoji.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve at.")
@click.option("--port", default=8000, show_default=True, help="Port to serve at; 0 picks one.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.option("--cors", multiple=True, help="Origins whose pages may call the service.")
@click.option("--no-serve", is_flag=True, help="Only build it and show a sample search.")
def demo(host: str, port: int, no_browser: bool, cors: tuple[str, ...], no_serve: bool) -> None:
    """Build the catalog of emoji (the first time), show a sample search, and serve it."""
    from seeker.demo import demo_catalog, demo_folder, sample_search
    from seeker.kernels import COMPILE_NOTICE, compiled_before

    if not no_serve:
        from seeker.server.runner import listen

        # A port that is taken is better known before a minute of building than after it.
        listen(host, port).close()
    with resumable():
        catalog = demo_catalog(click.echo, progress=shows_bar())
    click.echo(f"{len(catalog):,} emoji with the views {', '.join(catalog.views)}.")
    if not compiled_before():
        click.echo(COMPILE_NOTICE)
    for line in sample_search(catalog):
        click.echo(line)
    if no_serve:
        return
    from seeker.server.runner import serve
    from seeker.server.settings import read_settings

    def tell(address: str) -> None:
        click.echo(f"Seeker is at {address} (stop it with Ctrl-C)")
        if not no_browser:
            click.launch(address)

    place = demo_folder()
    store = str(place.with_suffix(".sessions.sqlite"))
    # A line for every request is for those who run a service.
    flags = {"host": host, "port": port, "store": store, "log_level": "warning"}
    serve(read_settings({"catalogs": (f"emoji={place}",), **flags, "cors": cors}), tell)
