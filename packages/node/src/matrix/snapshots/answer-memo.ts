import type { AnswerMemo } from '../matrix-deps.ts'

/** Bounded in bytes; the oldest goes first. Large pulls are not kept: they are rare and one of them would fill it. */
export function createAnswerMemo(bytesMax = 32 * 1024 * 1024, entryBytesMax = 1024 * 1024): AnswerMemo {
  const answers = new Map<string, Parameters<AnswerMemo['put']>[1]>()
  let bytes = 0
  return {
    get: (key) => answers.get(key),
    put: (key, answer) => {
      const size = answer.body.length
      if (size > entryBytesMax || answers.has(key)) return
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
