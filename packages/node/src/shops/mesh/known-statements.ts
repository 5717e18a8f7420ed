import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import {
  checkStatementTimes,
  claimedKeyId,
  openStatement,
  readSignedStatement,
  type StatementCheck,
  type StatementVerdict,
} from '@assay/protocol/mesh/statement'

/** Twice what a view holds. */
const knownMax = 512

/** A peer says the same for minutes and is asked every few seconds: what was read once is not read again. */
function keepRead() {
  const read = new Map<string, MeshStatement>()
  return {
    find: (name: string): MeshStatement | undefined => {
      const known = read.get(name)
      if (known === undefined) return undefined
      // Used last, dropped last.
      read.delete(name)
      read.set(name, known)
      return known
    },
    keep: (name: string, statement: MeshStatement): void => {
      const [oldest] = read.keys()
      if (read.size >= knownMax && oldest !== undefined) read.delete(oldest)
      read.set(name, statement)
    },
  }
}

const opened = keepRead()
const verified = keepRead()

/** The content of a stored statement. Nobody changes it: others read the same. */
export function openKnownStatement(jws: string): MeshStatement | undefined {
  const known = opened.find(jws)
  if (known !== undefined) return known
  const statement = openStatement(jws)
  if (statement !== undefined) opened.keep(jws, statement)
  return statement
}

/** As `verifyMeshStatement`; the signature of the same bytes by the same key for the same address is checked once, times always. */
export async function verifyKnownStatement(jws: string, check: StatementCheck): Promise<StatementVerdict> {
  const keyId = claimedKeyId(jws)
  const key = check.keys.find(({ kid }) => kid === keyId)
  const name = `${check.address} ${key?.x} ${jws}`
  const known = key === undefined ? undefined : verified.find(name)
  if (key !== undefined && known !== undefined) return checkStatementTimes(known, key, check.nowMs)
  const signed = await readSignedStatement(jws, check)
  if (!signed.ok) return signed
  verified.keep(`${check.address} ${signed.key.x} ${jws}`, signed.statement)
  return checkStatementTimes(signed.statement, signed.key, check.nowMs)
}
