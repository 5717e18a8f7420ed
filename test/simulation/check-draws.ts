import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import type { Draw } from './history.ts'

export type CallRow = {
  id: string
  account: string
  subject: string
  amount: bigint
  route_id: string
  idempotency_key: string | null
  state: string
  order_id: string | null
}

export async function readCalls({ world }: Scene): Promise<CallRow[]> {
  const { rows } = await world.db.owner.query<CallRow>(
    `select c.id, c.account, c.subject, c.amount, c.route_id, c.idempotency_key, c.state, e.order_id from entitled_call c
       left join simulated_effect e on e.payment_id = c.id where c.port = 'credit'`,
  )
  return rows
}

/** Calls paid from credit: nothing is answered that was not drawn, and nothing drawn twice or from somebody else. */
export async function checkDraws(scene: Scene): Promise<void> {
  if (scene.history.draws.size > 0) checkEachDraw(scene, await readCalls(scene))
}

export function checkEachDraw({ world, history }: Scene, calls: readonly CallRow[]): void {
  const walletOf = ({ buyer }: Draw) => world.buyers[buyer]?.address.toLowerCase() ?? ''
  const captured = calls.filter(({ state }) => state === 'captured')
  const byId = new Map(captured.map((call) => [call.id, call]))
  const unnamed = new Map<string, { answered: number; lost: number }>()
  for (const [name, draw] of history.draws) {
    const own = captured.filter(
      (call) => call.account === walletOf(draw) && call.idempotency_key === (draw.key ?? null),
    )
    for (const { callId } of draw.answers) {
      const call = callId === undefined ? own.find(({ route_id }) => route_id === draw.routeId) : byId.get(callId)
      if (!call) throw new Violation('promise 4', `the draw ${name} was answered and nothing was drawn`)
      if (call.account !== walletOf(draw) || call.amount !== draw.priceMicro || call.route_id !== draw.routeId)
        throw new Violation('I6', `the draw ${name} took ${call.amount} from ${call.account} for ${call.route_id}`)
    }
    if (draw.key !== undefined && own.length > 1) throw new Violation('promise 4', `the draw ${name} was drawn twice`)
    if (draw.key === undefined) {
      const kind = `${walletOf(draw)} ${draw.routeId}`
      const sum = unnamed.get(kind) ?? { answered: 0, lost: 0 }
      unnamed.set(kind, { answered: sum.answered + draw.answers.length, lost: sum.lost + draw.lost })
    }
  }
  for (const [kind, { answered, lost }] of unnamed) {
    const drawn = captured.filter(
      (call) => `${call.account} ${call.route_id}` === kind && call.idempotency_key === null,
    )
    // An answer that got lost may have been drawn for: without a name nobody can ask for it again.
    if (drawn.length < answered || drawn.length > answered + lost)
      throw new Violation('promise 4', `${kind}: ${answered} answered, ${lost} lost, ${drawn.length} drawn`)
  }
}
