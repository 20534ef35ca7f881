# SPDX-License-Identifier: GPL-2.0-only
"""A command of click that refuses an option given twice, and names itself in each error."""

from __future__ import annotations

import click


class Command(click.Command):
    """A command; click itself would take the last value of an option without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            if not ctx.resilient_parsing:  # that of the completion, which refuses nothing
                self.refuse_repeats(ctx, args)
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click gives none where an option lacks its value
            raise

    def refuse_repeats(self, ctx: click.Context, args: list[str]) -> None:
        """UsageError for an option that is given twice and holds one value."""
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        for option in given:
            single = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            if single and given.count(option) > 1:
                raise click.UsageError(f"option '{option.opts[0]}' is given twice", ctx)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command
