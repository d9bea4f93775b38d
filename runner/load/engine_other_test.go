//go:build !linux

package load

var engines = []string{engineNet}
