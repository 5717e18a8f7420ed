import type { FacilitatorFault } from '../../packages/conformance/src/facilitator/index.ts'

/** What goes wrong from now on; steps of the simulation fill it in, ports ask it. */
export type FaultPlan = {
  facilitator: FacilitatorFault[]
  views: Map<string, ViewFault>
  /** The process ends at the n-th port call from now. */
  dieAt(calls: number, when: 'before' | 'after'): void
  diesNow(when: 'before' | 'after'): boolean
  /** The answer to the n-th statement from now is lost after it took effect. */
  loseAnswerAt(calls: number): void
  losesAnswer(): boolean
  clear(): void
}

export const viewFaults = ['silent', 'lags', 'denies', 'invents', 'drops_sends'] as const
export type ViewFault = { kind: (typeof viewFaults)[number]; blocks: number }

export function createFaultPlan(): FaultPlan {
  let death: { left: number; when: 'before' | 'after' } | undefined
  let answerLeft: number | undefined
  const plan: FaultPlan = {
    facilitator: [],
    views: new Map(),
    dieAt: (calls, when) => {
      death = { left: calls, when }
    },
    diesNow: (when) => {
      if (!death || when !== death.when) return false
      death.left -= 1
      if (death.left > 0) return false
      death = undefined
      return true
    },
    loseAnswerAt: (calls) => {
      answerLeft = calls
    },
    losesAnswer: () => {
      if (answerLeft === undefined) return false
      answerLeft -= 1
      if (answerLeft > 0) return false
      answerLeft = undefined
      return true
    },
    clear: () => {
      plan.facilitator.length = 0
      plan.views.clear()
      death = undefined
      answerLeft = undefined
    },
  }
  return plan
}
