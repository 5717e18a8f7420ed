import type { Hex } from '@assay/protocol/bytes'
import { adminRole, noSupplyCap, roles, scopeNames, wad } from './abi/b20.ts'
import { checkAnswer } from './check-answer.ts'
import type { Checked } from './checker.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { known, type RoleFacts, type TokenFacts } from './facts.ts'
import { newMeter } from './read/panel.ts'

/** Facts of a token that nobody controls, as documentation shows it. */
export function exampleFacts(): TokenFacts {
  const zeroHash = `0x${'00'.repeat(32)}` as Hex
  const free = (role: Hex): RoleFacts => ({ role, admin: known(adminRole), holders: [], unreadPairs: [] })
  return {
    chainId: 8453,
    token: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa',
    variant: 'asset',
    variantByte: 0,
    block: { number: 53_600_000n, hash: `0x${'ab'.repeat(32)}`, timestamp: 1_793_910_000, stateRoot: zeroHash },
    fork: {
      fork: known('denim'),
      seizeRole: 'yes',
      invertedPolicyId: 'yes',
      scheduled: 'denim',
      mismatch: false,
      unreviewed: false,
    },
    name: known('Example'),
    symbol: known('EXM'),
    decimals: known(6),
    contractUri: known(''),
    currency: undefined,
    totalSupply: known(1_000_000n),
    supplyCap: known(noSupplyCap),
    minted: known(true),
    paused: known([]),
    scopes: Object.fromEntries(scopeNames.map((name) => [name, known(0n)])) as unknown as TokenFacts['scopes'],
    adminCount: known(0n),
    roles: new Map(Object.values(roles).map((role) => [role, free(role)])),
    policies: new Map(),
    multiplier: known({ current: wad }),
    unreviewedRoles: [],
    accounts: new Map(),
    genesis: {
      blockNumber: 53_500_000n,
      transaction: zeroHash,
      via: 'router',
      firstAdmin: undefined,
      initCalls: [],
    },
    logs: { fromBlock: 53_500_000n, toBlock: 53_600_000n, count: 0, gaps: [] },
    events: [],
    policyEvents: [],
    policyEventsLeftOut: 0,
    contradictions: [],
  }
}

export function exampleChecked(): Checked {
  const facts = exampleFacts()
  return {
    status: 'read',
    facts,
    meter: { ...newMeter(), pin: 1, views: 3, logs: 2, recheck: 1 },
    providers: ['rpc.example'],
    indexedTo: undefined,
    quorum: 1,
    evaluation: evaluate(facts),
  }
}

export const exampleCheck = () =>
  checkAnswer(exampleChecked(), {
    network: 'eip155:8453',
    synthetic: false,
    reportUrl: 'https://node.example/v1/report/0xB200000000000000000000AAaAaAaaAAAAAAAAaA',
    reportPriceUsd: '0.02',
  })
