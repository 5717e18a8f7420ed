import { type Address, zeroAddress } from '@assay/protocol/address'
import { activationRegistryAddress, codeMarker, factoryAddress, policyRegistryAddress } from '../abi/b20.ts'
import { type AccountLabel, type Known, known } from '../facts.ts'
import { hasTokenPrefix } from '../token-address.ts'
import { calls } from './calls.ts'
import type { Questions } from './questions.ts'
import { readAddress, readUint, readUintArray } from './words.ts'

/** Addresses people burn to. Nobody is known to have their key, which is not the same as nobody having it. */
const presumedDead = /^0x(?:0{36}dead|dead0{36}|(?:dead){10}|0{39}[1-9a-f])$/

/** Native code of the chain: what it is needs no question. */
const native = new Map<Address, AccountLabel>([
  [zeroAddress, { kind: 'zero' }],
  [factoryAddress, { kind: 'factory' }],
  [policyRegistryAddress, { kind: 'registry' }],
  [activationRegistryAddress, { kind: 'registry' }],
])

export function askLabel(questions: Questions, account: Address): void {
  if (native.has(account)) return
  questions.askCode(account)
  questions.ask(calls.safeThreshold(account))
  questions.ask(calls.safeOwners(account))
}

/** What kind of account holds a power. A contract moves the question of who decides one level down. */
export function labelAccount(questions: Questions, account: Address): Known<AccountLabel> {
  const label = native.get(account)
  if (label !== undefined) return known(label)
  const code = questions.code(account)
  if (!code.known) return code
  if (code.value === codeMarker && hasTokenPrefix(account)) return known({ kind: 'token' })
  if (code.value === '0x') return known({ kind: presumedDead.test(account) ? 'presumed_dead' : 'eoa' })
  if (/^0xef0100[0-9a-f]{40}$/.test(code.value))
    return known({ kind: 'delegated_eoa', delegate: `0x${code.value.slice(8)}` as Address })
  const threshold = questions.fact(calls.safeThreshold(account), (data) => readUint(data, 16))
  const owners = questions.fact(calls.safeOwners(account), readOwners)
  if (threshold.known && owners.known && threshold.value > 0n && threshold.value <= owners.value.length)
    return known({ kind: 'safe', threshold: Number(threshold.value), owners: owners.value })
  return known({ kind: 'contract' })
}

const ownersMax = 100

function readOwners(data: `0x${string}`): Address[] | undefined {
  const owners = readUintArray(data, 160, ownersMax)?.map((word) =>
    readAddress(`0x${word.toString(16).padStart(64, '0')}`),
  )
  return owners?.every((owner) => owner !== undefined) ? owners : undefined
}
