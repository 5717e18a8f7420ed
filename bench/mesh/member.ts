import { type ChildProcess, fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { joinProgram } from '../../packages/till/src/kernel/join-program.fixture.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import type { Wire } from './wire.ts'

export type Usage = { cpuMicros: number; rssBytes: number; trafficBytes: number }

export type Member = {
  origin: string
  /** What its process has used so far. */
  usage(): Promise<Usage>
  /** Where the process itself listens, past the wire. */
  direct(): string | undefined
  start(): Promise<void>
  /** SIGKILL, SIGSTOP or SIGCONT. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  close(): Promise<void>
}

/** Where an embedded chain listens. */
export type Chain = { url?: string | undefined }

/** Gas money for a wallet. */
async function fund({ url = '' }: Chain, wallet: Address): Promise<void> {
  const amounts = { microUsdc: '0x0', wei: `0x${(10n ** 18n).toString(16)}` }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'devnet_fund', params: [wallet, amounts] })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { error } = (await answer.json()) as { error?: { message: string } }
  if (error) throw new Error(`the chain at ${url} gave no gas: ${error.message}`)
}

/** A node with a database, payees and its own settling wallet, on chains that all share. `mesh`: members of `MESH`. */
export async function createMember(
  wire: Wire,
  chains: readonly [Chain, Chain],
  peers: string,
  mesh: Record<string, number> = {},
): Promise<Member> {
  const db = await openTestDatabase({ poolSize: 1 })
  const home = await temporaryHome('assay-mesh-')
  const settler = generatePrivateKey()
  const wallet = privateKeyToAccount(settler).address.toLowerCase() as Address
  for (const chain of chains) await fund(chain, wallet)
  const env = {
    PATH: process.env['PATH'],
    PORT: `${wire.port ?? 0}`,
    BASE_URL: wire.origin,
    ASSAY_HOME: home,
    DATABASE_URL: db.databaseUrl,
    BASE_RPC_URLS: chains[0].url,
    POLYGON_RPC_URLS: chains[1].url,
    LOG_LEVEL: 'silent',
    SETTLER_KEYS: settler,
    PAY_TO: newAddress(),
    CUSTODY: newAddress(),
    MESH: JSON.stringify({ loopback_ports: '1024-65535', ...mesh }),
    MESH_PEERS: peers,
  }
  let child: ChildProcess | undefined
  const start = async () => {
    const started = fork(await joinProgram(join(import.meta.dirname, 'child.ts')), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env,
    })
    child = started
    wire.target = await new Promise<string>((resolve, reject) => {
      started.once('message', (sent) => resolve((sent as { ready: string }).ready))
      started.once('exit', (code) => reject(new Error(`a node ended with ${code} before it was ready`)))
    })
  }
  const gone = (process: ChildProcess | undefined) =>
    process === undefined || process.exitCode !== null || process.signalCode !== null
  return {
    origin: wire.origin,
    direct: () => wire.target,
    start,
    usage: () =>
      new Promise((resolve) => {
        child?.once('message', (sent) => resolve((sent as { usage: Usage }).usage))
        child?.send('usage')
      }),
    signal: async (name) => {
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      child?.kill(name)
      if (name !== 'SIGKILL') return
      await ended
      wire.target = undefined
    },
    close: async () => {
      if (!gone(child)) {
        const ended = new Promise((resolve) => child?.once('exit', resolve))
        child?.kill('SIGCONT')
        child?.send('stop')
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10_000).unref())])
        if (!gone(child)) child?.kill('SIGKILL')
      }
      await wire.close()
      await db.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

const newAddress = () => getAddress(privateKeyToAccount(generatePrivateKey()).address)
