'use strict';

const PERIOD_MS = 1000;

function row(worker) {
    const tr = document.createElement('tr');
    const counters = worker.counters;
    const values = [worker.slot, worker.state, worker.pid, worker.connections,
        counters.frames_in, counters.frames_out, counters.sends_refused];
    for (const value of values)
        tr.insertCell().textContent = value;
    return tr;
}

function show(status) {
    document.getElementById('summary').textContent = `version ${status.version} is ` +
        `${status.state}, pid ${status.pid}, generation ${status.generation}: ` +
        `${status.last_change}`;
    document.getElementById('workers').replaceChildren(...status.workers.map(row));
}

async function refresh() {
    try {
        const answer = await fetch('status.json', { cache: 'no-store' });
        if (!answer.ok)
            throw new Error(await answer.text());
        show(await answer.json());
    } catch (error) {
        document.getElementById('summary').textContent = `no answer: ${error.message}`;
    }
    setTimeout(refresh, PERIOD_MS);
}

refresh();
