import type { AnswerMemo } from '../matrix-deps.ts'

const askedOnceMax = 4_096

/**
 * Bounded in bytes; the oldest goes first. Large pulls are not kept: they are rare and one of them would fill it. Nor is
 * what was asked for once: a crowd of different queries would push out what is asked for again and again.
 */
export function createAnswerMemo(bytesMax = 32 * 1024 * 1024, entryBytesMax = 1024 * 1024): AnswerMemo {
  const answers = new Map<string, Parameters<AnswerMemo['put']>[1]>()
  const askedOnce = new Set<string>()
  let bytes = 0
  return {
    get: (key) => answers.get(key),
    put: (key, answer) => {
      const size = answer.body.length
      if (size > entryBytesMax || answers.has(key)) return
      if (!askedOnce.delete(key)) {
        if (askedOnce.size >= askedOnceMax) askedOnce.clear()
        askedOnce.add(key)
        return
      }
      answers.set(key, answer)
      bytes += size
      for (const [old, { body }] of answers) {
        if (bytes <= bytesMax) break
        answers.delete(old)
        bytes -= body.length
      }
    },
  }
}
