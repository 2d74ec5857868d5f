package dbtest

import (
	"errors"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

func (p *Proxy) postgresSession(client, server net.Conn) {
	s := &pgSession{
		proxy:    p,
		number:   p.opened.Add(1),
		client:   pgproto3.NewBackend(client, client),
		server:   pgproto3.NewFrontend(server, server),
		upstream: server,
		prepared: map[string]string{},
	}
	_ = s.run() // when one side ends, the connection to the other is closed
}

// pgSession is a connection of a client, with its connection to the server.
type pgSession struct {
	proxy    *Proxy
	number   int64 // of the connection
	client   *pgproto3.Backend
	server   *pgproto3.Frontend // for reading; requests are written to upstream
	upstream net.Conn
	prepared map[string]string // SQL by name of the prepared statement
	status   byte              // of the transaction; 'I' means none
	stage    int
}

func (s *pgSession) run() error {
	startup, err := s.client.ReceiveStartupMessage()
	if err != nil {
		return err
	}
	if err := s.send(startup.Encode(nil)); err != nil {
		return err
	}
	if _, isCancel := startup.(*pgproto3.CancelRequest); isCancel {
		return nil
	}
	if err := s.answer(true); err != nil {
		return err
	}
	for {
		r, err := s.request()
		if err != nil {
			return err
		}
		f := s.proxy.fate(r)
		switch f {
		case Pass:
			err = errors.Join(s.send(r.text, nil), s.answer(true))
		case Serialize:
			err = s.refuse(r)
		case CutBefore:
			return nil
		case Silent:
			err = s.send(r.text, nil)
			<-s.proxy.ended
		default: // cut after the server has executed the request
			return errors.Join(s.send(r.text, nil), s.answer(false))
		}
		if err != nil {
			return err
		}
	}
}

func (s *pgSession) send(text []byte, err error) error {
	if err == nil {
		_, err = s.upstream.Write(text)
	}
	return err
}

// request reads the messages of the client until it waits for a response.
func (s *pgSession) request() (Request, error) {
	r := Request{Connection: s.number, Inside: s.status != 'I', commit: -1}
	for end := false; !end; {
		message, err := s.client.Receive()
		if err != nil {
			return r, err
		}
		sql := ""
		switch m := message.(type) {
		case *pgproto3.Query:
			sql, end = m.String, true
		case *pgproto3.Parse:
			sql, s.prepared[m.Name] = m.Query, m.Query
		case *pgproto3.Bind:
			sql = s.prepared[m.PreparedStatement]
		case *pgproto3.Sync:
			end = true
		case *pgproto3.Terminate:
			return r, io.EOF
		}
		if r.commit < 0 && is(sql, "commit") {
			r.commit = len(r.text)
		}
		if sql != "" {
			r.Statements = append(r.Statements, sql)
		}
		if r.text, err = message.Encode(r.text); err != nil {
			return r, err
		}
	}
	s.stage++
	if !r.Inside {
		s.stage = 0
		r.Inside = slices.ContainsFunc(r.Statements, func(sql string) bool { return is(sql, "begin") })
	}
	r.Stage = s.stage
	return r, nil
}

// answer reads the response of the server, and forwards it completely if deliver is set.
func (s *pgSession) answer(deliver bool) error {
	ready, err := s.until(s.client.Send)
	if err != nil || !deliver {
		return err
	}
	s.client.Send(ready)
	return s.client.Flush()
}

// refuse forwards the part of the request before its COMMIT, rolls the transaction back,
// and responds to the COMMIT with 40001, like databases whose transactions may fail at the
// end.
func (s *pgSession) refuse(r Request) error {
	if r.commit > 0 {
		text, err := (&pgproto3.Sync{}).Encode(r.text[:r.commit])
		if err := s.send(text, err); err != nil {
			return err
		}
		if _, err := s.until(s.client.Send); err != nil {
			return err
		}
	}
	if err := s.send((&pgproto3.Query{String: "rollback"}).Encode(nil)); err != nil {
		return err
	}
	ready, err := s.until(func(pgproto3.BackendMessage) {})
	if err != nil {
		return err
	}
	s.client.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "40001", Message: "restart transaction"})
	s.client.Send(ready)
	return s.client.Flush()
}

// until reads the response of the server and calls pass with each message but the last,
// which it returns.
func (s *pgSession) until(pass func(pgproto3.BackendMessage)) (*pgproto3.ReadyForQuery, error) {
	for {
		message, err := s.server.Receive()
		if err != nil {
			return nil, err
		}
		switch m := message.(type) {
		case *pgproto3.ReadyForQuery:
			s.status = m.TxStatus
			return m, nil
		case *pgproto3.DataRow:
			s.proxy.rowCount.Add(1)
		case *pgproto3.ErrorResponse:
			if m.Code == "40001" {
				s.proxy.retryCount.Add(1)
			}
		}
		pass(message)
	}
}
