package loginstate

// Secret returns the secret of the attempt.
func (a *Attempt) Secret() [32]byte { return a.secret }

// SealPlain seals any content under the key for the name.
func SealPlain(k Key, name string, plain []byte) []byte {
	return k.aead(loginCookie.purpose).Seal(nil, nil, plain, []byte(name))
}
