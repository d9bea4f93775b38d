package findings

// ServerBound reports whether the server was what limited the cell's rate. Of any
// other cell a rate says only that the server can do more.
func (c *Cell) ServerBound() bool { return c.Bound == serverBound }
