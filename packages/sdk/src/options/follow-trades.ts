import type { AssayClient } from '../client.ts'
import { type FollowOptions, followStream, type StreamedEvent } from '../intents/follow-stream.ts'
import type { OptionTrade } from './options.ts'

export type FollowTradesOptions = Omit<FollowOptions, 'node' | 'path' | 'token' | 'buy' | 'headers'> & {
  /** Only of this series. */
  symbol?: string | undefined
}

/** A trade with its signed event; `lastEventId` of a later call goes on after its `trade_id`. */
export type StreamedTrade = { trade: OptionTrade; streamed: StreamedEvent }

/**
 * Trades of the options exchange as they happen, free. Comes back by itself after the last trade it saw; a trade whose
 * signature is wrong ends it with an error.
 */
export async function* followOptionTrades(
  client: Pick<AssayClient, 'fetch' | 'quote' | 'pinnedKeys'>,
  node: string,
  { symbol, ...options }: FollowTradesOptions = {},
): AsyncGenerator<StreamedTrade> {
  const query = symbol === undefined ? '' : `?symbol=${encodeURIComponent(symbol)}`
  for await (const streamed of followStream(client, { ...options, node, path: `/v1/options/trades${query}` }))
    if (streamed.name === 'trade') yield { trade: streamed.event.data as OptionTrade, streamed }
}
