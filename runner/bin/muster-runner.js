#!/usr/bin/env node
import '../lib/runner/src/main.js';
