import { formatUsd } from '@assay/protocol/money'
import type { LocalAccount, TypedDataDefinition } from 'viem'
import { type AnswerOf, ask, askSigned, type BodyOf, given, type QueryOf, type RowOf } from './call-operation.ts'
import type { AssayClient } from './client.ts'

export type Source = AnswerOf<'sources.show'>
export type SourceSummary = RowOf<'sources.list'>
export type SourceState = SourceSummary['state']
export type SourceClaim = NonNullable<Source['claim']>
export type ProofInstructions = SourceClaim['prove']
export type RegisterSource = BodyOf<'sources.register'>
export type ListSources = QueryOf<'sources.list'>
export type DisputeSource = BodyOf<'sources.dispute'>
export type SourceTerms = AnswerOf<'sources.terms'>
export type SourceRules = BodyOf<'sources.terms.set'>['rules']

/** Free and without credential; the answer says what to publish. */
export function registerSource(client: AssayClient, node: string, source: RegisterSource): Promise<Source> {
  return ask(client, node, 'sources.register', { body: source })
}

/** With `wallet` also what that claimant has to publish. */
export function readSource(client: AssayClient, node: string, domain: string, wallet?: string): Promise<Source> {
  return ask(client, node, 'sources.show', { params: { domain }, query: given({ wallet }) })
}

export function listSources(
  client: AssayClient,
  node: string,
  filter: ListSources = {},
): Promise<AnswerOf<'sources.list'>> {
  return ask(client, node, 'sources.list', { query: filter })
}

/** Looks now. With the payout wallet's account its signature is made and sent too. */
export async function verifySource(
  client: AssayClient,
  node: string,
  domain: string,
  options: { wallet?: string; account?: LocalAccount } = {},
): Promise<Source> {
  const wallet = options.account?.address ?? options.wallet
  const signature =
    options.account === undefined
      ? undefined
      : await signPayoutStatement(await readSource(client, node, domain, options.account.address), options.account)
  return ask(client, node, 'sources.verify', {
    params: { domain },
    body: given({ wallet, wallet_signature: signature }),
  })
}

/** Undefined when the wallet has signed before. Signs only what the source answer shows, and only if it is of this kind. */
async function signPayoutStatement(source: Source, account: LocalAccount): Promise<`0x${string}` | undefined> {
  if (source.claim === null || source.claim.wallet_proven) return undefined
  const statement = source.claim.wallet_statement as unknown as TypedDataDefinition & {
    message: Record<string, unknown>
  }
  const { domain, wallet } = statement.message
  if (
    statement.primaryType !== 'SourcePayout' ||
    domain !== source.domain ||
    String(wallet).toLowerCase() !== account.address.toLowerCase()
  )
    throw new RangeError(
      'the node asks for another statement than one about this domain and wallet; nothing was signed',
    )
  return account.signTypedData(statement)
}

/** `current` signs with the wallet that is paid now, which shortens the wait. */
export function changeSourceWallet(
  client: AssayClient,
  node: string,
  domain: string,
  { wallet, current, chainId }: { wallet: string; current?: LocalAccount; chainId?: number },
): Promise<Source> {
  const input = { params: { domain }, body: { wallet } }
  if (current === undefined) return ask(client, node, 'sources.wallet', input)
  return askSigned(client, 'sources.wallet', input, { node, account: current, ...given({ chainId }) })
}

export function disputeSource(
  client: AssayClient,
  node: string,
  domain: string,
  dispute: DisputeSource,
): Promise<AnswerOf<'sources.dispute'>> {
  return ask(client, node, 'sources.dispute', { params: { domain }, body: dispute })
}

/** What the creator allows and asks for by path, with its history. */
export function readSourceTerms(client: AssayClient, node: string, domain: string): Promise<SourceTerms> {
  return ask(client, node, 'sources.terms', { params: { domain } })
}

/** Replaces all rules; signed with the wallet that is paid for the domain. */
export function setSourceTerms(
  client: AssayClient,
  node: string,
  { domain, rules, account }: { domain: string; rules: SourceRules; account: LocalAccount },
): Promise<SourceTerms> {
  return askSigned(client, 'sources.terms.set', { params: { domain }, body: { rules } }, { node, account })
}

/** A rule as it is sent, from how it is shown. */
export const ruleInput = ({
  attest_micro,
  content_micro,
  ...rule
}: SourceTerms['rules'][number]): SourceRules[number] => ({
  ...rule,
  ...(rule.attest ? { attest_usd: formatUsd(BigInt(attest_micro)) } : {}),
  ...(content_micro === null ? {} : { content_usd: formatUsd(BigInt(content_micro)) }),
})
