import { readFile } from 'node:fs/promises'
import {
  type Agent,
  type AgentDeclaration,
  type AgentSearch,
  type AgentServiceType,
  type DidDocument,
  declareCapabilities,
  didOfWallet,
  readAgent,
  resolveDid,
  revokeCapabilities,
  searchAgents,
  verifyRating,
} from '@assay/sdk'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'

type Common = { json?: boolean }
export type ResolveOptions = Common & { versionId?: string }
export type SearchOptions = Common & { service?: string; scoreMin?: string; limit: string; cursor?: string }
export type CapabilitiesOptions = Common &
  WalletOptions & { did?: string; name?: string; file?: string; revoke?: boolean }

// Agents wrote it: what would steer a terminal is shown as what it is.
const plain = (text: string) => text.replace(/\p{C}/gu, '\ufffd')

export async function runResolve(
  context: CommandContext,
  node: string,
  did: string,
  options: ResolveOptions,
): Promise<void> {
  if (!/^did:[a-z0-9]+:./.test(did))
    throw usageError(`not a DID: ${did}`, 'Such as did:x402:0x… or did:web:example.org.')
  const client = freeClient()
  const outcome = await resolveDid(
    client,
    node,
    did,
    options.versionId === undefined ? {} : { versionId: options.versionId },
  )
  if (outcome.status === 'failed') throw new CliError(exitCodes.failed, 'did_not_resolved', outcome.error.detail)
  if (outcome.status === 'deactivated')
    throw new CliError(exitCodes.failed, 'did_deactivated', 'its wallet has deactivated this DID')
  const { document, metadata } = outcome
  const rating = document.creditRating
  const keys = client.pinnedKeys(new URL(node).origin)
  const checked =
    rating === null || rating === undefined || keys === undefined
      ? undefined
      : await verifyRating(rating, { keys, nowMs: Date.now() })
  printResult(context.terminal, options.json, { document, metadata, rating_verified: checked?.status ?? null }, () =>
    documentText(document, checked),
  )
  if (checked?.status === 'invalid') context.endWith(exitCodes.notVerified)
}

function documentText(document: DidDocument, checked: Awaited<ReturnType<typeof verifyRating>> | undefined): string {
  const rating = document.creditRating
  return [
    document.id,
    ...document.verificationMethod.map((method) => `key       ${method.blockchainAccountId ?? method.type}`),
    ...document.service.map((one) => `service   ${plain(`${one.type}  ${endpointText(one.serviceEndpoint)}`)}`),
    ...(document.capabilities ?? []).map((one) => `can       ${plain(String(one.id))}`),
    ...(rating === undefined
      ? []
      : rating === null
        ? ['rating    none: nothing was seen of it yet']
        : [
            `rating    ${rating.score} of 100, between ${rating.interval.low} and ${rating.interval.high}, ${checked?.status === 'verified' ? 'signed by the node' : `NOT VERIFIED: ${checked?.reason ?? 'no keys'}`}`,
            ...rating.components.map(
              (part) =>
                `          ${part.id} ${part.value.toFixed(2)}  ${Object.entries(part.evidence)
                  .map(([name, value]) => `${name} ${value}`)
                  .join(', ')}`,
            ),
          ]),
    ...(document.paymentAuthorizations === undefined
      ? []
      : [`may be charged by ${document.paymentAuthorizations.length} authorization(s)`]),
  ].join('\n')
}

const endpointText = (endpoint: unknown) => (typeof endpoint === 'string' ? endpoint : JSON.stringify(endpoint))

const serviceTypes: readonly AgentServiceType[] = ['x402', 'agent_card', 'mcp', 'a2a', 'web']

export async function runSearch(
  { terminal }: CommandContext,
  node: string,
  capability: string | undefined,
  options: SearchOptions,
): Promise<void> {
  const service = serviceTypes.find((type) => type === options.service)
  if (options.service !== undefined && service === undefined)
    throw usageError(`--service: one of ${serviceTypes.join(', ')}`)
  const search: AgentSearch = {
    ...(capability === undefined ? {} : { capability }),
    ...(service === undefined ? {} : { service }),
    ...(options.scoreMin === undefined ? {} : { score_min: wholeNumber('--score-min', options.scoreMin) }),
    ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
    limit: wholeNumber('--limit', options.limit),
  }
  const page = await searchAgents(freeClient(), node, search)
  printResult(terminal, options.json, page, () =>
    page.data.length === 0
      ? 'no such agent is known'
      : [
          table(page.data, [
            { title: 'did', of: (one) => one.did },
            { title: 'score', of: (one) => (one.credit_score === null ? '-' : String(one.credit_score)), right: true },
            { title: 'name', of: (one) => plain(one.name ?? '') },
            { title: 'capabilities', of: (one) => plain(one.capabilities.map(({ id }) => id).join(' ')) },
          ]),
          ...(page.next_cursor === null ? [] : [`more with --cursor ${page.next_cursor}`]),
        ].join('\n'),
  )
}

export async function runCapabilities(
  { terminal }: CommandContext,
  node: string,
  names: readonly string[],
  options: CapabilitiesOptions,
): Promise<void> {
  const writes = names.length > 0 || options.file !== undefined || options.revoke === true
  if (!writes && options.did !== undefined)
    return show(terminal, options, await readAgent(freeClient(), node, options.did))
  const { account } = await chooseWallet(node, options, terminal)
  const did = options.did ?? didOfWallet(account.address)
  if (!writes) return show(terminal, options, await readAgent(freeClient(), node, did))
  if (options.revoke && (names.length > 0 || options.file !== undefined))
    throw usageError('--revoke takes everything back; leave out names and --file')
  const signer = { account }
  const agent = options.revoke
    ? await revokeCapabilities(freeClient(), node, did, signer)
    : await declareCapabilities(freeClient(), node, did, await readDeclaration(names, options), signer)
  show(terminal, options, agent)
}

async function readDeclaration(names: readonly string[], options: CapabilitiesOptions): Promise<AgentDeclaration> {
  if (options.file !== undefined) {
    if (names.length > 0) throw usageError('give names or --file, not both')
    try {
      return JSON.parse(await readFile(options.file, 'utf8')) as AgentDeclaration
    } catch (error) {
      throw usageError(`--file: ${(error as Error).message}`)
    }
  }
  return {
    ...(options.name === undefined ? {} : { name: options.name }),
    capabilities: names.map((id) => ({ id })),
  }
}

function show(terminal: CommandContext['terminal'], options: Common, agent: Agent): void {
  printResult(terminal, options.json, agent, () =>
    [
      `${agent.did}${agent.name === null ? '' : `  ${plain(agent.name)}`}`,
      `version   ${agent.version}`,
      `rating    ${agent.credit_rating === null ? 'none yet' : `${agent.credit_rating.score} of 100`}`,
      ...agent.capabilities.map(
        (one) =>
          `can       ${plain([one.id, one.name, one.price_usd && `${one.price_usd} USD`].filter(Boolean).join('  '))}`,
      ),
      ...agent.services.map((one) => `service   ${one.type}  ${plain(one.url)}`),
      ...(agent.capabilities.length === 0 ? ['declares nothing'] : []),
    ].join('\n'),
  )
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw usageError(`${option}: not a number: ${text}`)
  return Number(text)
}
