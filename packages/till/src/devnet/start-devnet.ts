import type { Address } from '@assay/protocol/address'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { demoAccount, demoAccounts, demoUsdcAddress } from './accounts.ts'
import { openChain } from './chain-state.ts'
import { createControl, type DevnetControl } from './control.ts'
import { createFaults } from './faults.ts'
import { serveRpc } from './http-server.ts'
import { createBlockProducer } from './mine-transactions.ts'
import { type ChainExtension, createRpc, type RpcRequest } from './rpc.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

export type DevnetOptions = {
  chainId: number
  /** Where the journal is kept; without it the chain lives in memory and ends with `stop`. */
  folder?: string
  /** 0 takes any free port; without it there is no HTTP. */
  port?: number
  /** Loopback only. Default 127.0.0.1. */
  host?: '127.0.0.1' | '::1' | 'localhost'
  /** Further addresses that get gas and test USDC in the first blocks of a new chain. */
  fund?: readonly Address[]
  /** Demo accounts beside those of every embedded chain: funded, and unlocked for tools that expect a signing node. */
  roles?: readonly string[]
  /** What this chain has beside what every embedded chain has, each on top of those before it. */
  extensions?: readonly ChainExtension[]
  /** A new chain begins with this many empty blocks, two seconds apart, as if it were as old as a real one. */
  emptyBlocks?: number
  clock: Clock
  log: Log
}

/** An embedded chain: EVM, test USDC, Multicall3, funded demo accounts. */
export type Devnet = {
  chainId: number
  url?: string
  usdc: Address
  /** JSON-RPC in this process. Rejects with RpcError (`code`, `message`, `data`). */
  request: RpcRequest
  control: DevnetControl
  stop(): Promise<void>
}

export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const accounts = [...demoAccounts, ...(options.roles ?? []).map(demoAccount)]
  const fund = [...accounts.map(({ address }) => address), ...(options.fund ?? [])]
  const state = await openChain({ ...options, fund })
  const faults = createFaults(options.clock)
  const producer = createBlockProducer(state)
  const control = createControl(state, producer, faults)
  const closing = async (error: unknown) => {
    await state.journal.close()
    throw error
  }
  const { extensions = [] } = options
  const rpc = await createRpc({ state, producer, control, faults, accounts, extensions }).catch(closing)
  let stopped: Promise<void> | undefined
  const request: RpcRequest = async (method, params) => {
    if (stopped !== undefined) throw new RpcError(rpcCodes.server, 'the chain is stopped')
    return rpc(method, params)
  }
  const host = options.host ?? '127.0.0.1'
  const server =
    options.port === undefined ? undefined : await serveRpc(request, { host, port: options.port }).catch(closing)
  return {
    chainId: options.chainId,
    ...(server === undefined ? {} : { url: server.url }),
    usdc: demoUsdcAddress(options.chainId),
    request,
    control,
    stop: () => {
      stopped ??= (async () => {
        await server?.stop()
        await state.lock.exclusive(async () => {
          state.broken ??= new Error('it was shut down')
          await state.journal.close()
        })
      })()
      return stopped
    },
  }
}
