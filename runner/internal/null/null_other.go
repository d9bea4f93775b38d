//go:build !linux

package null

import (
	"net"
	"time"
)

// serve is a goroutine for each connection.
func serve(l *net.TCPListener, s Stall) error {
	begin := time.Now()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			buf := make([]byte, 32<<10)
			for {
				if _, err := c.Read(buf); err != nil {
					return
				}
				time.Sleep(s.left(time.Since(begin)))
				if _, err := c.Write(Reply); err != nil {
					return
				}
			}
		}()
	}
}
