#!/usr/bin/env node
// In the clone only: the published package has the built program here.
import { loadJoined } from '../../../scripts/load-joined.mjs'

await loadJoined('conformance')
