package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/worker/holdfast"
)

type key string

func (k key) ApiKey(context.Context, holdfast.OperationName) (holdfast.ApiKey, error) {
	return holdfast.ApiKey{Token: string(k)}, nil
}

func newClient(url, apiKey string) *holdfast.Client {
	client, err := holdfast.NewClient(url, key(apiKey))
	check(err)
	return client
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	url, queue := os.Args[1], os.Args[2]
	client := newClient(url, os.Args[3])

	item := holdfast.ProduceItem{UTF8: holdfast.NewOptNilString("two anchors")}
	produced, err := client.Produce(ctx, &holdfast.ProduceRequest{
		QueueName: queue, RequestTimeout: "1m", Items: []holdfast.ProduceItem{item},
	}, holdfast.ProduceParams{})
	check(err)
	fmt.Println("produce", produced.(*holdfast.ProduceReplyHeaders).Response.Code)

	asked := holdfast.LeaseRequest{QueueName: queue, ClientID: "worker-1", RequestTimeout: "1s"}
	answer, err := client.Lease(ctx, &asked, holdfast.LeaseParams{})
	check(err)
	leased := answer.(*holdfast.LeaseReplyHeaders).Response
	fmt.Println("lease", len(leased.Items), "item")

	done := holdfast.CompleteRequest{
		QueueName: queue, Partition: leased.Partition, RequestTimeout: "1m",
		Ids: []string{leased.Items[0].ID},
	}
	completed, err := client.Complete(ctx, &done, holdfast.CompleteParams{})
	check(err)
	fmt.Println("complete", completed.(*holdfast.CompleteOKHeaders).Response.Code)
	// Each code has a type of its own, which is a Reply.
	completed, err = client.Complete(ctx, &done, holdfast.CompleteParams{})
	check(err)
	again := completed.(*holdfast.CompleteCode453)
	fmt.Println("complete again", again.Code, again.Reason.Value)
	answer, err = client.Lease(ctx, &asked, holdfast.LeaseParams{})
	check(err)
	empty := answer.(*holdfast.LeaseCode454)
	fmt.Println("lease again", empty.Code, empty.Reason.Value)

	answer, err = newClient(url, "wrong").Lease(ctx, &asked, holdfast.LeaseParams{})
	check(err)
	refused := answer.(*holdfast.LeaseUnauthorized)
	fmt.Println("a wrong key", refused.Code, refused.Reason.Value)
}
