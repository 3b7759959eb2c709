// How each op is distributed: by name, on arrays that are whole along the dims that it touches, or
// by a rule of its own.
#ifndef XTENSOR_DISTRIBUTE_DISTRIBUTERULES_H
#define XTENSOR_DISTRIBUTE_DISTRIBUTERULES_H

#include "RuleTable.h"

namespace xtensor {

class Distributor;

/// A rule changes the op, whose operands are those of one process already, to work on them.
class DistributeRules : public RuleTable<Distributor> {
public:
  static const DistributeRules &get() {
    static const DistributeRules rules;
    return rules;
  }

private:
  DistributeRules();
};

void addIndexDistributeRules(DistributeRules &);
void addLoopDistributeRules(DistributeRules &);
void addNameDistributeRules(DistributeRules &);

inline DistributeRules::DistributeRules() {
  addIndexDistributeRules(*this);
  addLoopDistributeRules(*this);
  addNameDistributeRules(*this);
}

} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_DISTRIBUTERULES_H
