import fc from 'fast-check'

const { FUZZ_SEED: seed } = process.env

/** One seed for every run, so that a run says the same of the same code; `npm run fuzz` draws others. */
fc.configureGlobal({ seed: seed === undefined ? 20_261_117 : Number(seed), includeErrorInReport: true })
