export type Message = {
  /** The same in every attempt: anyone who gets it twice can tell. */
  id: string
  title: string
  /** A signed CloudEvent. */
  json: string
}

export type Outcome = { status: 'sent' } | { status: 'failed' | 'refused' | 'gone'; detail: string }

/** One way to reach somebody. Never throws for what the outside does. */
export type Channel = {
  send(target: string, message: Message): Promise<Outcome>
  /** `proven` where the answer itself shows that the party that answers expects it. */
  challenge(target: string, code: string): Promise<Outcome | { status: 'proven' }>
}
