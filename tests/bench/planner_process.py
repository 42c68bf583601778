"""`heddle-engine plan --serve`, kept open: many questions, answers in their order."""
import json, subprocess, threading


class Planner:
    def __init__(self, build):
        self.process = subprocess.Popen([f"{build}/heddle-engine", "plan", "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def plans(self, requests, numbers=None):
        """The plan of each request, or a text that says why there is none. `numbers`: of the catalogue, changed."""

        def ask():
            for index, request in enumerate(requests):
                both = {**(request.get("numbers") or {}), **(numbers or {})}
                asked = {**request, "id": index, "closes": False, **({"numbers": both} if both else {})}
                self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()

        asking = threading.Thread(target=ask)
        asking.start()
        answers = [None] * len(requests)
        for _ in requests:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"heddle-engine ended with {self.process.wait()}")
            answer = json.loads(line)
            answers[answer["id"]] = answer.get("plan") or reason(answer)
        asking.join()
        return answers


def reason(answer):
    if "faults" in answer:
        return "; ".join(f"{fault['key']}: {fault['text']}" for fault in answer["faults"])
    return answer.get("error", "no plan")


def reserved(plan, rank=None):
    """Bytes that the allocator reserves: of the first rank, as nanotron reports them, or of the one that has most."""
    shown = plan["ranks_shown"][:1] if rank == 0 else plan["ranks_shown"]
    most = 0
    for each in shown:
        apart = each["memory"].get("other", 0)
        most = max(most, min(sum(each["memory"].values()), plan["limit_bytes"]) - apart)
    return most
