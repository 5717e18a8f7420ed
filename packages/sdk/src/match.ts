import { type AnswerOf, type BodyOf, callOperation, type RowOf } from './call-operation.ts'
import type { AssayClient } from './client.ts'

export type MatchRequest = BodyOf<'citations.match'>
export type Match = AnswerOf<'citations.match'>
export type MatchedPage = RowOf<'citations.match'>

/** Ranked, citable pages for a question; pays for one search within the client's policy. */
export async function matchSources(client: Pick<AssayClient, 'fetch'>, request: MatchRequest): Promise<Match> {
  return (await callOperation(client, 'citations.match', { body: request })).data
}
