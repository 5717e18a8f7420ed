export type Message = {
  /** The same in every attempt, so that a receiver recognizes a duplicate. */
  id: string
  title: string
  /** A signed CloudEvent. */
  json: string
}

/**
 * `failed` and `refused` are tried again. `rejected`: this message is never taken. `gone`: neither is any other.
 * `unavailable`: the operator's own server did not answer, which says nothing about the target.
 */
export type Outcome =
  | { status: 'sent' }
  | { status: 'failed' | 'refused' | 'rejected' | 'gone' | 'unavailable'; detail: string }

/** One way to reach somebody. Never throws for what the outside does. */
export type Channel = {
  send(target: string, message: Message): Promise<Outcome>
  /** `proven` where the answer itself shows that the party that answers expects it. */
  challenge(target: string, code: string): Promise<Outcome | { status: 'proven' }>
}
