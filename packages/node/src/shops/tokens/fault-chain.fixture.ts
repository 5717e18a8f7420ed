import { type Address, zeroAddress } from '@assay/protocol/address'
import type { RpcEndpoint } from '@assay/till/chain'
import type { Devnet } from '@assay/till/devnet'
import { roles } from './abi/b20.ts'
import type { Checked } from './checker.ts'
import { evaluate } from './evaluate/evaluate.ts'
import type { Verdict } from './evaluate/types.ts'
import { type Faults, faultyEndpoint } from './faulty-endpoint.fixture.ts'
import { type Actor, createActor } from './issuer.fixture.ts'
import { type ReaderDeps, readToken } from './read/read-token.ts'
import { endpointOf, readerOver } from './reader.fixture.ts'
import { startTokenChain } from './token-chain.fixture.ts'

type Endpoints = readonly RpcEndpoint[]

/** A chain with two tokens, and a reader over whatever endpoints a fault case puts in front of it. */
export type FaultChain = {
  chain: Devnet
  issuer: Actor
  guard: Actor
  honest: RpcEndpoint
  /** No admin, one minter: any power that gets lost makes it look locked. */
  mintable: Address
  locked: Address
  faulty(faults: Faults, name?: string): RpcEndpoint
  evaluated(endpoints: Endpoints, token?: Address, changes?: Partial<ReaderDeps>): Promise<Checked>
  verdict(endpoints: Endpoints, token?: Address, changes?: Partial<ReaderDeps>): Promise<Verdict>
  /** What was missing. */
  codes(endpoints: Endpoints, token?: Address): Promise<string[]>
}

export async function openFaultChain(): Promise<FaultChain> {
  const chain = await startTokenChain()
  const issuer = await createActor(chain)
  const guard = await createActor(chain, 'guard')
  const mintable = await issuer.create('mintable')
  await issuer.call(mintable, 'grantRole', roles.MINT_ROLE, guard.address)
  await issuer.call(mintable, 'renounceLastAdmin')
  const locked = await issuer.create('locked', { admin: zeroAddress })
  const evaluated = async (endpoints: Endpoints, token = mintable, changes: Partial<ReaderDeps> = {}) => {
    const reading = await readToken(readerOver(endpoints, changes), token)
    if (reading.status !== 'read') throw new Error(reading.status)
    return { ...reading, evaluation: evaluate(reading.facts) }
  }
  return {
    chain,
    issuer,
    guard,
    honest: endpointOf(chain),
    mintable,
    locked,
    faulty: (faults, name) => faultyEndpoint(endpointOf(chain), faults, name),
    evaluated,
    verdict: async (...args) => (await evaluated(...args)).evaluation.verdict,
    codes: async (...args) => (await evaluated(...args)).evaluation.missing.map(({ code }) => code),
  }
}
