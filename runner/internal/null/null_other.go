//go:build !linux

package null

import "net"

func serve(l *net.TCPListener, s Stall) error { return servePortably(l, s) }
