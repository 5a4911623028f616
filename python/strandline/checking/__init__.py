"""The check of a recording: the user's checker on its crash states, crashes inside recovery, weaker flushes and fences.

Read `request` first: what is asked for, and what of it goes together. `examining` has the order of the steps. Behind
it, `verify` and `inside` judge states, `replaying` finds one state inside a recovery, `weakening` looks for fences that
can go, `mending` for changes that mend a kind of failure (`groups`). All of these run commands by `verdicts` and
`processes`.
"""
