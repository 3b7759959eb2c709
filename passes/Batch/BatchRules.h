// How each op is extended from one instance to all: by name, which changes only types, or by a
// rule.
#ifndef XTENSOR_BATCH_BATCHRULES_H
#define XTENSOR_BATCH_BATCHRULES_H

#include "RuleTable.h"
#include "XTensor/Dims.h"

namespace xtensor {

class Batcher;

/// A rule makes the op on all instances; its results are known to the batcher afterwards.
class BatchRules : public RuleTable<Batcher> {
public:
  static const BatchRules &get() {
    static const BatchRules rules;
    return rules;
  }

private:
  BatchRules();
};

void addCallbackBatchRules(BatchRules &);
void addLoopBatchRules(BatchRules &);
void addNameBatchRules(BatchRules &);
void addRegionBatchRules(BatchRules &);

inline BatchRules::BatchRules() {
  addNameBatchRules(*this);
  addRegionBatchRules(*this);
  addLoopBatchRules(*this);
  addCallbackBatchRules(*this);
}

} // namespace xtensor

#endif // XTENSOR_BATCH_BATCHRULES_H
