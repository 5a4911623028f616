"""`python -m strandline`."""

from strandline.start import main

if __name__ == "__main__":
    main()
