import { type RpcEndpoint, RpcRefusal } from '../chain/index.ts'
import type { Devnet } from './start-devnet.ts'

/** An embedded chain as the till reads it, without HTTP. */
export function devnetEndpoint(devnet: Devnet): RpcEndpoint {
  return {
    name: `embedded ${devnet.chainId}`,
    send: (calls) =>
      Promise.all(
        calls.map((call) =>
          devnet
            .request(call.method, [...call.params])
            .catch((error: { code?: number; message?: string; data?: unknown }) => {
              throw new RpcRefusal(error.code ?? -32603, error.message ?? 'failed', error.data)
            }),
        ),
      ),
  }
}
