import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import type { FaultPoints } from '../harness/fault-points.ts'

/** Fault points whose errors carry what libraries hang on theirs: the connection, the request, its headers. */
export function secretBearingFaults(
  points: FaultPoints,
  secrets: { databaseUrl: string; rpcUrl: string },
): Interceptors {
  const burden = {
    connectionString: secrets.databaseUrl,
    options: { password: new URL(secrets.databaseUrl).password },
    config: { url: secrets.rpcUrl, headers: { authorization: secrets.rpcUrl } },
    request: { href: secrets.rpcUrl },
  }
  const withSecrets = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      // Frozen errors are as they are.
      if (error instanceof Error && Object.isExtensible(error)) Object.assign(error, burden)
      throw error
    })
  const { database, rpc, facilitator } = points.intercept
  return {
    database: (real): Database => {
      const faulty = database?.(real) ?? real
      return {
        ...faulty,
        query: (statement, values) => withSecrets(faulty.query(statement, values)),
        transaction: (work) => withSecrets(faulty.transaction(work)),
      }
    },
    rpc: (real) => {
      const faulty = rpc?.(real) ?? real
      return { name: faulty.name, send: (calls) => withSecrets(faulty.send(calls)) }
    },
    facilitator: (real) => {
      const faulty = facilitator?.(real) ?? real
      return { ...faulty, settle: (payment, signal) => withSecrets(faulty.settle(payment, signal)) }
    },
  }
}
