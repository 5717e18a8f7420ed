import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Child, startChild } from '../bench/process/child.ts'
import { makeCertificate } from '../packages/node/src/outbound/certificate.fixture.ts'
import type { RpcFault } from '../packages/till/src/chain/rpc-proxy.fixture.ts'
import { freePort } from '../packages/till/src/store/embedded/free-port.ts'
import { createOperator, newWallet, type Operator, type Wallet } from './operator.ts'
import type { Ask, Seen } from './outside/buyers.ts'
import { allHosts, hosts, writeInternet } from './outside/names.ts'
import { type Env, type NodeProcess, runAssay, startNodeProcess } from './servers/node-process.ts'
import { hasDebianPostgres, type Postgres, startPostgres, useServer } from './servers/postgres.ts'

export type ChainFacts = { url: string; usdc: string; providers: string[]; tokens: string[]; block: number }

/** Everything around the node, and the node itself. */
export type World = {
  home: string
  operator: Operator
  base: ChainFacts
  polygon: ChainFacts
  /** The database in use; a restore replaces it. */
  postgres: Postgres
  bus: string
  node: NodeProcess | undefined
  fund(wallet: Wallet, usd: number): Promise<void>
  /** A wallet with dollars on both chains, from nowhere. */
  newBuyer(usd: number): Promise<Wallet>
  balance(chain: 'base' | 'polygon', wallet: Wallet): Promise<bigint>
  buy(ask: Ask): Promise<Seen>
  ask(ask: Ask): Promise<Seen>
  signed(ask: Ask): Promise<Seen>
  assay(...args: string[]): Promise<{ code: number | null; out: string; err: string }>
  /** Starts the node, or another process of it, and sends the public to it. */
  startNode(more?: Env, folder?: string): Promise<NodeProcess>
  metrics(): Promise<string>
  rpcFault(provider: number | 'all', fault: RpcFault): Promise<void>
  /** Calls to the providers of each chain since they were counted last. */
  rpcCalls(): Promise<{ base: string[]; polygon: string[] }>
  /** Whether the third provider of Base is a block behind. */
  rpcLag(is: boolean): Promise<void>
  facilitator(fault: 'none' | 'down' | 'hangs' | 'moves_nothing'): Promise<void>
  facilitatorSeen(): Promise<{ refused_tokens: number; verified: number; settled: number }>
  publish(open: boolean): Promise<void>
  putFile(host: string, path: string, body: string): Promise<void>
  close(): Promise<void>
}

export type WorldOptions = { postgres: string; say(text: string): void }

export async function openWorld(options: WorldOptions): Promise<World> {
  const home = await mkdtemp(join(tmpdir(), 'assay-rehearsal-'))
  // The account that the database runs as must be able to pass.
  await chmod(home, 0o711)
  const closing: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })]
  const close = async () => {
    for (const undo of closing.splice(0).reverse()) await undo().catch((error: unknown) => options.say(String(error)))
  }
  try {
    return await assemble(home, options, closing, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function assemble(
  home: string,
  { postgres: wanted, say }: WorldOptions,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<World> {
  const child = async (file: string, env: Env = {}): Promise<Child> => {
    const started = await startChild(join('..', 'rehearse', 'outside', file), env)
    closing.push(() => started.stop())
    return started
  }
  const operator = await createOperator(home)
  await mkdir(operator.env['ASSAY_HOME'] ?? '', { mode: 0o700 })
  say('starting Base and Polygon, a facilitator, publishers and sites ...')
  const chains = await startChains(child)
  const { baseChain, polygonChain, base, polygon, fund } = chains
  await fund(operator.settler, 0, 10n ** 18n)
  const { facilitator, web, connected } = await startInternet(home, child, operator, chains)
  const buyers = await child('buyers.ts', connected)
  const postgres = await openDatabase(wanted, home)
  say(`database: ${postgres.name}`)
  const nats = await openBus(say)
  if (nats) closing.push(() => nats.stop())
  let port = 0
  const env = (more: Env = {}): Env => ({
    ...connected,
    ...operator.env,
    DATABASE_URL: world.postgres.url,
    ...(nats ? { NATS_URL: nats.url } : {}),
    BASE_RPC_URLS: base.providers.join(','),
    POLYGON_RPC_URLS: polygon.providers.join(','),
    ...more,
  })
  let current: Env = {}
  const world: World = {
    home,
    operator,
    base,
    polygon,
    postgres,
    bus: nats ? 'NATS JetStream' : 'LISTEN/NOTIFY',
    node: undefined,
    fund: (wallet, usd) => fund(wallet, usd, 0n),
    newBuyer: async (usd) => {
      const wallet = newWallet()
      await fund(wallet, usd, 0n)
      return wallet
    },
    balance: async (chain, { address }) =>
      BigInt(await (chain === 'base' ? baseChain : polygonChain).ask<string>('balance', address)),
    buy: (ask) => buyers.ask<Seen>('buy', ask),
    ask: (ask) => buyers.ask<Seen>('ask', ask),
    signed: (ask) => buyers.ask<Seen>('signed', ask),
    assay: (...args) => runAssay(env(current), args),
    startNode: async (more = {}, folder) => {
      current = { ...current, ...more }
      port = await freePort()
      const node = await startNodeProcess(
        { ...env(current), PORT: String(port) },
        {
          log: join(home, 'node.log'),
          ...(folder === undefined ? {} : { folder }),
        },
      )
      closing.push(() => node.end('SIGKILL'))
      world.node = node
      await web.ask('node', port)
      return node
    },
    metrics: async () => (await fetch(`http://127.0.0.1:${world.node?.port}/metrics`)).text(),
    rpcFault: (provider, fault) => baseChain.ask('fault', { provider, fault }),
    rpcCalls: async () => {
      const asked = [baseChain, polygonChain].map((chain) => chain.ask<string[]>('calls'))
      const [onBase = [], onPolygon = []] = await Promise.all(asked)
      return { base: onBase, polygon: onPolygon }
    },
    rpcLag: (is) => baseChain.ask('lag', is),
    facilitator: (fault) => facilitator.ask('fault', fault),
    facilitatorSeen: () => facilitator.ask('seen'),
    publish: (open) => web.ask('publish', open),
    putFile: (host, path, body) => web.ask('site', { host, path, body }),
    close,
  }
  closing.push(() => world.postgres.stop('fast'))
  return world
}

type StartChild = (file: string, env?: Env) => Promise<Child>
type Chains = Awaited<ReturnType<typeof startChains>>

async function startChains(child: StartChild) {
  const [baseChain, polygonChain] = await Promise.all([
    child('chain.ts', { REHEARSAL_CHAIN: '8453' }),
    child('chain.ts', { REHEARSAL_CHAIN: '137' }),
  ])
  const [base, polygon] = await Promise.all([baseChain.ask<ChainFacts>('facts'), polygonChain.ask<ChainFacts>('facts')])
  const fund = async ({ address }: Wallet, usd: number, wei: bigint) => {
    const given = { account: address, micro: (BigInt(usd) * 1_000_000n).toString(), wei: wei.toString() }
    await Promise.all([baseChain.ask('fund', given), polygonChain.ask('fund', given)])
  }
  return { baseChain, polygonChain, base, polygon, fund }
}

/** The facilitator, publishers and sites, and the environment of a process that reaches them by their names. */
async function startInternet(home: string, child: StartChild, operator: Operator, { base, polygon, fund }: Chains) {
  const settling = newWallet()
  await fund(settling, 0, 10n ** 18n)
  const authority = makeCertificate({ name: 'Rehearsal Authority', authority: true })
  const certificates = Object.fromEntries(
    allHosts.map((host) => {
      const { pem, key } = makeCertificate({ name: host, issuer: authority })
      return [host, { cert: pem, key }]
    }),
  )
  const [facilitator, web] = await Promise.all([
    child('facilitator.ts', {
      REHEARSAL_SETUP: JSON.stringify({
        ...certificates[hosts.cdp],
        walletKey: settling.key,
        apiKeyId: operator.apiKeyId,
        apiPublicKey: operator.apiPublicKey,
        chains: [
          { chainId: 8453, url: base.url },
          { chainId: 137, url: polygon.url },
        ],
      }),
    }),
    child('web.ts', { REHEARSAL_SETUP: JSON.stringify({ certificates }) }),
  ])
  const outside = {
    ...(await web.ask<{ web: number; dns: number }>('ports')),
    facilitator: await facilitator.ask<number>('port'),
  }
  const internet = join(home, 'internet.json')
  await writeInternet(internet, outside)
  const authorityFile = join(home, 'authority.pem')
  await writeFile(authorityFile, authority.pem)
  const connected: Env = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    NODE_ENV: 'production',
    NODE_EXTRA_CA_CERTS: authorityFile,
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'outside', 'internet.mjs')).href}`,
    REHEARSAL_INTERNET: internet,
  }
  return { facilitator, web, connected }
}

async function openDatabase(wanted: string, home: string): Promise<Postgres> {
  if (/^postgres(ql)?:\/\//.test(wanted)) return useServer(wanted)
  return startPostgres(
    wanted === 'debian' || (wanted === '' && (await hasDebianPostgres())) ? 'debian' : 'embedded',
    home,
  )
}

async function openBus(say: (text: string) => void) {
  const { natsInstalled, startNats } = await import('../packages/node/src/shops/intents/nats-server.fixture.ts')
  if (natsInstalled) return startNats()
  say('nats-server is not installed: the stream goes by LISTEN/NOTIFY')
  return undefined
}
