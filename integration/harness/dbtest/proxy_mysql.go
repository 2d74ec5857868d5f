package dbtest

import (
	"io"
	"net"
	"strings"
	"sync"
)

// mysqlSession understands as much of MySQL's protocol as is needed to distinguish the
// commands of a client.
func (p *Proxy) mysqlSession(client, server net.Conn) {
	s := &mysqlSession{proxy: p, number: p.opened.Add(1), client: client, server: server}
	var answering sync.WaitGroup
	answering.Go(s.answers)
	_ = s.commands()
	_ = server.Close()
	answering.Wait()
}

// mysqlSession is a connection of a client, with its connection to the server.
type mysqlSession struct {
	proxy          *Proxy
	number         int64 // of the connection
	client, server net.Conn
	inside         bool // a transaction
	stage          int

	mu   sync.Mutex
	next Fault // of the next response
}

// commands forwards the packets of the client, after applying the fault of each.
func (s *mysqlSession) commands() error {
	for {
		packet, err := readPacket(s.client)
		if err != nil {
			return err
		}
		f := Pass
		if packet[3] == 0 { // the first packet of a command, rather than of the handshake
			f = s.proxy.fate(s.request(packet))
		}
		switch f {
		case CutBefore:
			return nil
		case Serialize:
			packet = commandPacket("ROLLBACK")
		}
		s.expect(f)
		if _, err := s.server.Write(packet); err != nil {
			return err
		}
		if f == Silent {
			<-s.proxy.ended
		}
	}
}

// readPacket reads a packet: three bytes of length, the sequence number, and the payload.
func readPacket(from io.Reader) ([]byte, error) {
	packet := make([]byte, 4)
	if _, err := io.ReadFull(from, packet); err != nil {
		return nil, err
	}
	length := int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16
	packet = append(packet, make([]byte, length)...)
	_, err := io.ReadFull(from, packet[4:])
	return packet, err
}

const comQuery = 3

// commandPacket returns the packet of a short statement.
func commandPacket(sql string) []byte {
	return append([]byte{byte(1 + len(sql)), 0, 0, 0, comQuery}, sql...) // #nosec G115 -- shorter than 255
}

// request returns the statements of the packet. A value that contains the separator of
// statements is split too, which is harmless unless a part looks like a statement that
// the tests match.
func (s *mysqlSession) request(packet []byte) Request {
	r := Request{Connection: s.number, commit: -1}
	if len(packet) > 4 && packet[4] == comQuery {
		r.Statements = strings.Split(string(packet[5:]), "; ")
	}
	s.stage++
	end := false
	for i, sql := range r.Statements {
		switch {
		case is(sql, "start transaction"):
			s.inside, s.stage = true, 0
		case is(sql, "commit"):
			r.commit, end = i, true
		case is(sql, "rollback"):
			end = true
		}
	}
	r.Stage, r.Inside = s.stage, s.inside
	s.inside = s.inside && !end
	return r
}

func (s *mysqlSession) expect(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = f
}

func (s *mysqlSession) expected() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// answers forwards the responses of the server, after applying the expected fault.
func (s *mysqlSession) answers() {
	defer s.client.Close()
	for buffer := make([]byte, 32<<10); ; {
		n, err := s.server.Read(buffer)
		if err != nil {
			return
		}
		answer := buffer[:n]
		switch s.expected() {
		case Pass:
		case Serialize:
			answer = refusal("restart transaction")
			s.expect(Pass)
		case Silent:
			<-s.proxy.ended
		default: // cut after the server has executed the command
			return
		}
		if _, err := s.client.Write(answer); err != nil {
			return
		}
	}
}

// refusal returns the packet of error 1213, whose SQLSTATE is 40001.
func refusal(message string) []byte {
	text := append([]byte{0xff, 1213 & 0xff, 1213 >> 8, '#'}, "40001"+message...)
	return append([]byte{byte(len(text)), 0, 0, 1}, text...) // #nosec G115 -- shorter than 256
}
