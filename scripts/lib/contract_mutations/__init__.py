"""Changes what a server responds, one thing at a time, and shows which changes the contract suite notices."""
