import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { mandateTypes } from '@assay/protocol/typed-data/mandate'
import { hashTypedData, type TypedDataDefinition } from 'viem'
import { type Statement, statementTypedData } from '../../proofs/index.ts'

/** What the owner of credit signs: who may draw on it at which node, for what, how much and until when. */
export type Mandate = {
  owner: Address
  delegate: Address
  /** Whose interface it is for, and who is paid: the base address of the node. */
  node: string
  routes: readonly string[]
  capPerCallMicro: Micro
  capPerDayMicro: Micro
  capTotalMicro: Micro
  /** Unix seconds. */
  expiresAt: number
  nonce: Hex
}

export function mandateStatement(mandate: Mandate): Statement {
  return {
    types: mandateTypes,
    primaryType: 'Mandate',
    message: {
      owner: checksumAddress(mandate.owner),
      delegate: checksumAddress(mandate.delegate),
      node: mandate.node,
      routes: [...mandate.routes],
      capPerCall: mandate.capPerCallMicro.toString(),
      capPerDay: mandate.capPerDayMicro.toString(),
      capTotal: mandate.capTotalMicro.toString(),
      expiresAt: String(mandate.expiresAt),
      nonce: mandate.nonce,
    },
  }
}

/** Follows from what was signed: the same text has the same id wherever and however often it is presented. */
export function mandateId(mandate: Mandate, chainId: number): string {
  const typed = statementTypedData(mandateStatement(mandate), mandate.node, chainId) as TypedDataDefinition
  return `mdt_${hashTypedData(typed).slice(2, 42)}`
}
