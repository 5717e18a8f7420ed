import { useNode } from './context.ts'
import { type Readiness, readReadiness } from './read-checks.ts'
import { type Loading, useAnswer } from './use-answer.ts'

/** Why a route is not sold just now, by its id: what would be refused at the checkout is not offered. */
export function useNotSold(): (routeId: string) => string | undefined {
  const index = useNode()
  const [readiness] = useAnswer('sold', (signal) => readReadiness(index, signal))
  return (routeId) => whyNotSold(readiness, routeId)
}

export function whyNotSold(readiness: Loading<Readiness>, routeId: string): string | undefined {
  const notSold = readiness.state === 'done' ? readiness.value.notSold : []
  return shortReason(notSold.find(({ route }) => route === routeId)?.detail)
}

/** The first sentence is for the buyer; what follows is for the operator. */
export const shortReason = (detail: string | undefined): string | undefined => detail?.split(/[;.](?:\s|$)/)[0]
