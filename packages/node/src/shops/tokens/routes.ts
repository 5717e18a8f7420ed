import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { formatUsd, type Micro } from '@assay/protocol/money'
import { addressText } from '@assay/till/kernel/address-text'
import { asProblem as anyAsProblem, Problem, problemBody } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type RouteInput } from '../../http/index.ts'
import { checkAnswer } from './check-answer.ts'
import type { Checked, Checker } from './checker.ts'
import { exampleCheck } from './example.ts'
import type { PinnedBlock } from './facts.ts'
import type { Panel } from './read/panel.ts'
import { addressParams, blockNumber, block as blockShape, checkOutput } from './schemas.ts'
import { showBlock } from './show.ts'
import { viewWallet } from './wallet-view.ts'

export type TokenRouteDeps = {
  checker: Checker
  panel(): Promise<Panel>
  multicall3: Address
  network: string
  baseUrl: string
  synthetic: boolean
  reportPriceMicro: Micro
}

export const exampleAddress = '0xb200000000000000000000aaaaaaaaaaaaaaaaaa'
const batchMax = 100
const readAtOnce = 8

export function checkRoutes(deps: TokenRouteDeps): RouteDeclaration[] {
  return [checkRoute(deps), batchRoute(deps)]
}

type Made = { answer: ReturnType<typeof checkAnswer>; content: ReturnType<typeof jsonAnswer> }

/** One reading gives one answer, put together and spelt out once however often it is asked for. */
const made = new WeakMap<Checked, Made>()

function answerOf(deps: TokenRouteDeps, checked: Checked, token: Address): Made {
  const known = made.get(checked)
  if (known !== undefined) return known
  const answer = checkAnswer(checked, {
    network: deps.network,
    synthetic: deps.synthetic,
    reportUrl: `${deps.baseUrl}/v1/report/${checksumAddress(token)}`,
    reportPriceUsd: formatUsd(deps.reportPriceMicro),
  })
  const whole = { answer, content: jsonAnswer(answer) }
  made.set(checked, whole)
  return whole
}

async function answerFor(deps: TokenRouteDeps, token: Address, wallet: Address | undefined, block?: PinnedBlock) {
  const checked = await (block === undefined ? deps.checker.check(token) : deps.checker.checkAt(token, block))
  const { answer } = answerOf(deps, checked, token)
  if (wallet === undefined || checked.facts.variant === 'unsupported') return answer
  return { ...answer, wallet: await viewWallet(await deps.panel(), deps.multicall3, checked, wallet) }
}

function checkRoute(deps: TokenRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'tokens.check',
    mcp: 'both',
    main: true,
    capability: 'token.control.check',
    area: 'A',
    method: 'GET',
    path: '/v1/check/:address',
    summary: 'Who controls this B20 token: verdict, powers and flags',
    description:
      'Read live from the precompiles at one block, confirmed by views, with how complete it was. `wallet` adds what one wallet can do and what can be done to it. 404 with a reason when the address is no B20 token; 503 when the chain cannot be read.',
    params: addressParams,
    query: z.strictObject({
      wallet: addressText.optional().describe('Any wallet.'),
      block: blockNumber.optional().describe('The verdict at this block instead of the newest.'),
    }),
    output: checkOutput,
    example: { params: { address: exampleAddress }, output: exampleCheck() },
    next: '/v1/report/:address',
    cost: 2,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async (input) => {
        const { token, wallet, block } = readInput(input)
        if (block !== undefined)
          return jsonAnswer(await answerFor(deps, token, wallet, await deps.checker.pastBlock(block)))
        if (wallet === undefined) return answerOf(deps, await deps.checker.check(token), token).content
        return jsonAnswer(await answerFor(deps, token, wallet))
      },
    },
  })
}

function readInput(input: RouteInput): { token: Address; wallet: Address | undefined; block: bigint | undefined } {
  const { wallet, block } = input.query
  return {
    token: parseAddress(input.params.address) as Address,
    wallet: parseAddress(wallet),
    block: block === undefined ? undefined : BigInt(block as string),
  }
}

const batchOutput = z.strictObject({
  block: blockShape.describe('All of them were read at this block.'),
  data: z.array(
    z.union([
      checkOutput,
      z.strictObject({
        address: z.string(),
        problem: z.record(z.string(), z.unknown()).describe('As the single check would have answered.'),
      }),
    ]),
  ),
  next_cursor: z.null(),
})

function batchRoute(deps: TokenRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'tokens.check_batch',
    main: true,
    capability: 'token.control.check_batch',
    area: 'A',
    method: 'POST',
    path: '/v1/check/batch',
    summary: 'Check up to 100 B20 tokens at one block',
    description:
      'One entry per address, in order: the answer of the single check, or the problem it would have given. All are read at the same block.',
    body: z.strictObject({
      addresses: z.array(addressText).min(1).max(batchMax),
      wallet: addressText.optional(),
    }),
    output: batchOutput,
    example: {
      body: { addresses: [exampleAddress] },
      output: { block: exampleCheck().block, data: [exampleCheck()], next_cursor: null },
    },
    next: '/',
    cost: 50,
    access: {
      kind: 'free',
      handle: async (input) => {
        const body = input.body as { addresses: string[]; wallet?: string }
        const wallet = parseAddress(body.wallet)
        const block = await deps.checker.currentBlock()
        const tokens = body.addresses.map((text) => parseAddress(text) as Address)
        // An address that is named twice is read once.
        const named = [...new Set(tokens)]
        const answers = await mapWithin(readAtOnce, named, (token) => answerOrProblem(deps, token, wallet, block))
        const data = tokens.map((token) => answers[named.indexOf(token)])
        return jsonAnswer({ block: showBlock(block), data, next_cursor: null })
      },
    },
  })
}

/** In order, a few at a time. */
async function mapWithin<T, R>(atOnce: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let i = next; i < items.length; i = next) {
      next += 1
      results[i] = await work(items[i] as T)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}

async function answerOrProblem(deps: TokenRouteDeps, token: Address, wallet: Address | undefined, block: PinnedBlock) {
  try {
    return await answerFor(deps, token, wallet, block)
  } catch (error) {
    const problem = anyAsProblem(error)
    // One token that cannot be read does not spoil the others; one broken node does.
    if (!(error instanceof Problem)) throw error
    return { address: checksumAddress(token), problem: problemBody(problem, deps.baseUrl) }
  }
}
