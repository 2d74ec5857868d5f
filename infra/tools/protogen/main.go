// Command protogen compiles the .proto files in the subdirectories of a directory, and
// writes the generated Go code next to each. It does not need protoc: protocompile
// parses the files, and the protoc-gen-go of this module generates the code.
//
// Usage, from infra/tools:
//
//	go run ./protogen ../../handler/wire
//
// There are no flags. The directory is also the root of import paths. Imports that are
// neither there nor among protobuf's own files are taken from the Go packages linked
// into this command (google/api/httpbody.proto). The output is deterministic, so that
// CI can regenerate and compare it. A .pb.go file without its .proto file is not removed.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	_ "google.golang.org/genproto/googleapis/api/httpbody" // registers google/api/httpbody.proto
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("protogen: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./protogen <directory of .proto files>")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(root string) error {
	names, err := fs.Glob(os.DirFS(root), "*/*.proto") // in byte order
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{root}},
			protocompile.ResolverFunc(linked),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard, // carries comments into the Go code
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String("paths=source_relative")}
	seen := map[string]bool{}
	for _, file := range files {
		request.ProtoFile = withImports(request.ProtoFile, file, seen)
	}
	response, err := generate(request)
	if err != nil {
		return err
	}
	for _, file := range response.File {
		if err := os.WriteFile(filepath.Join(root, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// linked finds a file in the generated packages linked into this command.
func linked(name string) (protocompile.SearchResult, error) {
	desc, err := protoregistry.GlobalFiles.FindFileByPath(name)
	return protocompile.SearchResult{Desc: desc}, err
}

// withImports appends file after its imports, which is the order that plugins expect.
func withImports(to []*descriptorpb.FileDescriptorProto, file protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[file.Path()] {
		return to
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		to = withImports(to, file.Imports().Get(i).FileDescriptor, seen)
	}
	return append(to, protoutil.ProtoFromFileDescriptor(file))
}

// generate runs the pinned protoc-gen-go.
func generate(request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", "tool", "protoc-gen-go")
	command.Stdin, command.Stderr = bytes.NewReader(in), os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(out, response); err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return response, nil
}
