// Command emptyfunction is a minimal function for AWS Lambda, with which the benchmarks
// compare the real one. It responds immediately or, if it has a database, after one read by
// primary key.
package main

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func main() {
	var db *sql.DB
	if url := os.Getenv("EMPTY_DB_URL"); url != "" {
		var err error
		if db, err = sql.Open("pgx", url); err != nil {
			log.Fatal(err)
		}
	}
	lambda.Start(func(ctx context.Context, _ events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		answer := events.APIGatewayV2HTTPResponse{StatusCode: 200}
		if db != nil {
			var revision int64
			if err := db.QueryRowContext(ctx, "SELECT revision FROM namespaces WHERE namespace_key = 'default'").Scan(&revision); err != nil {
				return answer, err
			}
		}
		return answer, nil
	})
}
