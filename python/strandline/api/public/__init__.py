"""The functions of `import strandline as sl`. Their arguments are the words of the command line.

Results print as the command's output, also in notebooks. polars, pandas and duckdb take their rows by
`__arrow_c_stream__`. A wrong argument raises an `InputError`, whose message names the correction.
"""
