import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Abi, numberToHex, toFunctionSelector } from 'viem'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import outputAnchor from '../contracts/artifacts/OutputAnchor.json' with { type: 'json' }
import outputGames from '../contracts/artifacts/OutputGames.json' with { type: 'json' }
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { readHeader } from '../packages/protocol/src/token-report/block-header.ts'
import { messagePasser, outputRootOf } from '../packages/protocol/src/token-report/chain-proof.ts'
import {
  type AskChain,
  type ChainProof,
  parseChainProof,
  parseTokenReport,
  proveReport,
  type TokenReport,
  verifyChainProof,
} from '../packages/sdk/src/index.ts'
import { serveRpc } from '../packages/till/src/devnet/http-server.ts'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { clients, startTestChain } from '../packages/till/src/devnet/test-chain.fixture.ts'
import { buy } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

type Hex = `0x${string}`

const till = useTill({ ownShops: ['account', 'sandbox', 'tokens'] })
const askOf =
  (chain: Devnet): AskChain =>
  (method, params) =>
    chain.request(method, [...params])
const gameType = 621
let report: TokenReport
let outputBlock: number

beforeAll(async () => {
  const { demo } = (await (await fetch(till.node.url)).json()) as {
    demo: { tokens: { key: string; address: string }[] }
  }
  const token = demo.tokens.find(({ key }) => key === 'composite')?.address
  const buyer = await till.newBuyer(1_000_000n)
  // A chain that sends messages below has this account; money appears beside the chain until a block commits to it.
  await till.base.control.fund(messagePasser, { wei: 1n, microUsdc: 0n })
  await till.base.control.mine(2)
  const response = await buy(buyer, `${till.node.url}/v1/report/${token}`)
  report = parseTokenReport(await response.json()) as TokenReport
  await till.base.control.mine(3)
  outputBlock = Number(report.attestation.message.blockNumber) + 3
})

/** The parent chain, with a claim about the output of a block of the chain above. */
async function startBelow() {
  const chain = await startTestChain({ chainId: 1, port: 0 })
  const { wallet, reader } = clients(chain)
  const deploy = async ({ abi, bytecode }: { abi: unknown; bytecode: string }, args: unknown[]): Promise<Hex> => {
    const hash = await wallet.deployContract({ abi: abi as Abi, bytecode: bytecode as Hex, args, gas: 5_000_000n })
    return (await reader.waitForTransactionReceipt({ hash })).contractAddress?.toLowerCase() as Hex
  }
  const factory = await deploy(outputGames, [])
  const anchor = await deploy(outputAnchor, [factory, gameType])
  const call = async (address: Hex, abi: unknown, functionName: string, ...args: unknown[]) => {
    const hash = await wallet.writeContract({ address, abi: abi as Abi, functionName, args, gas: 3_000_000n })
    await reader.waitForTransactionReceipt({ hash })
  }
  const resolveAbi = [
    { type: 'function', name: 'resolve', inputs: [{ type: 'uint8' }], outputs: [], stateMutability: 'nonpayable' },
  ]
  const claim = async (root: Hex, block: number, type = gameType): Promise<Hex> => {
    // Games of Base carry more after the block number.
    const extra = `${numberToHex(block, { size: 32 })}${'ab'.repeat(20)}`
    await call(factory, outputGames.abi, 'create', type, root, extra, true)
    const count = (await reader.readContract({
      address: factory,
      abi: outputGames.abi as Abi,
      functionName: 'gameCount',
    })) as bigint
    const at = { address: factory, abi: outputGames.abi as Abi, functionName: 'gameAtIndex', args: [count - 1n] }
    return ((await reader.readContract(at)) as [number, bigint, string])[2].toLowerCase() as Hex
  }
  return {
    chain,
    anchor,
    claim,
    resolve: (game: Hex, outcome = 2) => call(game, resolveAbi, 'resolve', outcome),
    blacklist: (game: Hex) => call(anchor, outputAnchor.abi, 'blacklist', game),
    retire: () => call(anchor, outputAnchor.abi, 'retire'),
    /** Through an endpoint that answers some calls with its own words. */
    prove: (lies: Record<string, number> = {}) => {
      const said = new Map(Object.entries(lies).map(([name, word]) => [toFunctionSelector(name), word]))
      const l1: AskChain = async (method, params) => {
        const { data = '' } = (params[0] ?? {}) as { data?: string }
        const lie = method === 'eth_call' ? said.get(data.slice(0, 10) as Hex) : undefined
        return lie === undefined ? chain.request(method, [...params]) : numberToHex(lie, { size: 32 })
      }
      return proveReport(report, { l1, l2: askOf(till.base), anchor, l1Block: 'latest' })
    },
  }
}

async function outputOf(block: number): Promise<Hex> {
  const number = numberToHex(block)
  const header = (await till.base.request('eth_getBlockByNumber', [number, false])) as { hash: Hex; stateRoot: Hex }
  const account = (await till.base.request('eth_getProof', [messagePasser, [], number])) as { storageHash: Hex }
  return outputRootOf(header.stateRoot, account.storageHash, header.hash)
}

async function startWon() {
  const below = await startBelow()
  const game = await below.claim(await outputOf(outputBlock), outputBlock)
  await below.resolve(game)
  return { ...below, game }
}

/** The hash that the parent chain gives for the block in which a proof ends. */
async function endOf(chain: Devnet, { l1 }: ChainProof): Promise<string> {
  const number = numberToHex(readHeader(l1.header)?.number ?? 0n)
  return ((await chain.request('eth_getBlockByNumber', [number, false])) as { hash: string }).hash
}

test('a report is proven from its storage to a block of the parent chain', async () => {
  const { prove, chain, anchor } = await startWon()
  const proof = parseChainProof(JSON.parse(JSON.stringify(await prove()))) as ChainProof
  expect(proof.headers).toHaveLength(4)
  const trusted = { l1BlockHash: await endOf(chain, proof), anchor }
  const { ok, checks } = await verifyChainProof(proof, trusted)
  const found = Object.fromEntries(checks.map(({ name, status }) => [name, status]))
  expect([ok, found]).toEqual([
    true,
    {
      content: 'passed',
      statement: 'passed',
      signature: 'passed',
      attester: 'passed',
      keys: 'not_checked',
      storage: 'passed',
      headers: 'passed',
      output: 'passed',
      claim: 'passed',
      l1: 'passed',
      anchor: 'passed',
      verdict: report.verdict === 'ISSUER_CONTROLLED' ? 'passed' : 'not_checked',
    },
  ])
  const unnamed = await verifyChainProof(proof)
  expect(unnamed.checks.filter(({ status }) => status === 'not_checked').map(({ name }) => name)).toEqual(
    expect.arrayContaining(['l1', 'anchor']),
  )
})

test('a proof with anything changed does not verify, and says where', async () => {
  const { prove, chain, anchor } = await startWon()
  const proven = await prove()
  const text = JSON.stringify(proven)
  const trusted = { l1BlockHash: await endOf(chain, proven), anchor }
  type Loose = Record<string, never> & {
    report: { roles: { holders: unknown[] }[]; policies: unknown[]; supply: { cap: string } }
    storage: { token: { storageProof: { value: string }[] }; registry: { storageProof: unknown[] } }
    headers: string[]
    message_passer: { accountProof: string[] }
    output: Record<string, unknown>
    l1: Record<string, { storageProof: unknown[] }> & { header: string }
  }
  const changes: [string, (proof: Loose) => void][] = [
    ['storage', ({ report }) => Object.assign(report.supply, { cap: '5' })],
    ['storage', ({ report }) => Object.assign(report, { policies: [] })],
    ['storage', ({ storage }) => Object.assign(storage.token.storageProof[0] ?? {}, { value: '0x7' })],
    ['storage', ({ storage }) => storage.registry.storageProof.pop()],
    ['headers', ({ headers }) => headers.splice(1, 1)],
    ['headers', ({ headers }) => headers.shift()],
    ['output', ({ headers }) => headers.pop()],
    ['output', ({ message_passer }) => message_passer.accountProof.pop()],
    ['output', ({ output }) => Object.assign(output, { root_claim: `0x${'1'.repeat(64)}` })],
    ['output', ({ output }) => Object.assign(output, { extra_data: `0x${'0'.repeat(64)}` })],
    ['claim', ({ output }) => Object.assign(output, { game_type: 0 })],
    ['claim', ({ output }) => Object.assign(output, { game: `0x${'1'.repeat(40)}` })],
    ['claim', ({ l1 }) => l1.anchor_proof?.storageProof.pop()],
    ['claim', ({ l1 }) => Object.assign(l1, { factory: `0x${'1'.repeat(40)}` })],
    ['claim', ({ l1 }) => Object.assign(l1, { game_proof: l1.factory_proof })],
    ['l1', ({ l1, headers }) => Object.assign(l1, { header: headers[0] })],
  ]
  for (const [name, change] of changes) {
    const changed = JSON.parse(text)
    change(changed)
    const proof = parseChainProof(changed) as ChainProof
    const { ok, checks } = await verifyChainProof(proof, trusted)
    const wrong = checks.filter(({ status }) => status === 'failed').map((check) => check.name)
    expect([String(change), ok, wrong]).toEqual([String(change), false, expect.arrayContaining([name])])
  }
  const elsewhere = { l1BlockHash: `0x${'1'.repeat(64)}`, anchor: `0x${'2'.repeat(40)}` }
  const { checks } = await verifyChainProof(JSON.parse(text), elsewhere)
  expect(checks.filter(({ status }) => status === 'failed').map(({ name }) => name)).toEqual(['l1', 'anchor'])
})

test('only a claim that was won, counts and is about a block at or after the report proves it', async () => {
  const below = await startBelow()
  const output = await outputOf(outputBlock)
  const refused = async () => expect(await below.prove().catch((error) => error.code)).toBe('no_final_output')
  await refused()
  const game = await below.claim(output, outputBlock)
  await refused()
  await below.resolve(game, 1)
  await refused()
  const early = await below.claim(await outputOf(outputBlock - 4), outputBlock - 4)
  await below.resolve(early)
  await refused()
  const other = await below.claim(output, outputBlock, 7)
  await below.resolve(other)
  await refused()
  await below.resolve(game, 2)
  await below.prove()
  await below.retire()
  await refused()
})

test('an endpoint of the parent chain that lies about a claim proves nothing', async () => {
  const [status, blacklist, retirement] = ['status()', 'disputeGameBlacklist(address)', 'retirementTimestamp()']
  const lost = await startWon()
  await lost.resolve(lost.game, 1)
  await expect(lost.prove({ [status as string]: 2 })).rejects.toThrow('was lost')
  await lost.resolve(lost.game, 0)
  await expect(lost.prove({ [status as string]: 2 })).rejects.toThrow('can still be challenged')
  await lost.resolve(lost.game, 2)
  await lost.prove()
  await lost.blacklist(lost.game)
  await expect(lost.prove({ [blacklist as string]: 0 })).rejects.toThrow('games that do not count')
  const retired = await startWon()
  await retired.retire()
  await expect(retired.prove({ [retirement as string]: 0 })).rejects.toThrow('of that time do not count')
  const wrong = await startBelow()
  await wrong.resolve(await wrong.claim(`0x${'1'.repeat(64)}`, outputBlock))
  await expect(wrong.prove()).rejects.toThrow('the output is of another block')
})

test('assay prove writes a proof that assay verify checks offline', async () => {
  const { chain, anchor } = await startWon()
  const folder = await mkdtemp(join(tmpdir(), 'prove-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [from, out] = [join(folder, 'report.json'), join(folder, 'proof.json')]
  await writeFile(from, JSON.stringify(report))
  const run = async (...words: string[]) => {
    const terminal = createTestTerminal()
    return { code: await runCli(words, terminal), terminal }
  }
  const above = await serveRpc(till.base.request, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => above.stop())
  const rpc = ['--l1-rpc', String(chain.url), '--l2-rpc', above.url]
  const head = (await chain.request('eth_blockNumber', [])) as string
  const made = await run('prove', from, ...rpc, '--anchor', anchor, '--l1-block', String(Number(head)), '--out', out)
  expect([made.code, made.terminal.stderr()]).toEqual([0, ''])
  const block = await endOf(chain, JSON.parse(await readFile(out, 'utf8')))
  expect((await run('verify', out, '--l1-block', block, '--anchor', anchor)).code).toBe(0)
  expect((await run('verify', out, '--l1-block', `0x${'1'.repeat(64)}`, '--anchor', anchor)).code).toBe(5)
  expect((await run('prove', out, ...rpc, '--anchor', anchor, '--out', out)).code).toBe(2)
})
